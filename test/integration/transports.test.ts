import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer, type RequestListener, type Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect } from 'chai';
import {
  authority,
  client,
  elsewhere,
  expired,
  server as trusted,
} from '../support/certificates.js';
import { buildManifest, toRoutes } from '../support/http/modules.js';
import { startHost } from '../support/start-host.js';
import { createFolder } from '../support/temporary-folder.js';
import { use } from '../support/use.js';

const MANIFEST = { inline: buildManifest('things', toRoutes(['GET /things/{id}'], 'things')) };

const respond: RequestListener = (request, response) => {
  response.setHeader('content-type', 'application/json');
  response.end(JSON.stringify({ asked: request.url }));
};

describe('transports through a running host', () => {
  const servers: Server[] = [];

  const directory = createFolder();
  const host = use(async () => {
    writeFileSync(join(directory, 'ca.pem'), authority);
    writeFileSync(join(directory, 'client.pem'), client.cert);
    writeFileSync(join(directory, 'client.key'), client.key);
    const socket = join(directory, 'things.sock');
    await listen(createServer(respond), socket);
    const good = await listenTls(trusted);
    const mutual = await listenTls({ ...trusted, ca: authority, requestCert: true });
    const foreign = await listenTls(elsewhere);
    const late = await listenTls(expired);
    return startHost({
      files: {
        'socket.json': describeKind('socket', 'unix', { socket }),
        'tls.json': describeTls('tls', good, { ca: `file:${join(directory, 'ca.pem')}` }),
        'mutual.json': describeTls('mutual', mutual, {
          ca: join(directory, 'ca.pem'),
          cert: join(directory, 'client.pem'),
          key: `file:${join(directory, 'client.key')}`,
        }),
        'anonymous.json': describeTls('anonymous', mutual, { ca: join(directory, 'ca.pem') }),
        'foreign.json': describeTls('foreign', foreign, { ca: join(directory, 'ca.pem') }),
        'late.json': describeTls('late', late, { ca: join(directory, 'ca.pem') }),
        'unknown.json': describeTls('unknown', good, {}),
      },
    });
  });

  after(async () => {
    for (const server of servers) server.close();
  });

  for (const module of ['socket', 'tls', 'mutual']) {
    it(`reaches a provider over ${module}`, async () => {
      const { status, body } = await ask(module);
      expect(status, JSON.stringify(body)).to.equal(200);
      expect(body['data']).to.deep.equal({ asked: '/things/a%20b?x=%2F' });
    });
  }

  const untrusted: [string, string][] = [
    ['foreign', 'a certificate for another host'],
    ['late', 'a certificate that has expired'],
    ['unknown', 'an authority that is not configured'],
    ['anonymous', 'a provider that requires a client certificate'],
  ];
  for (const [module, title] of untrusted) {
    it(`answers 502 unavailable for ${title}`, async () => {
      const { status, body } = await ask(module);
      expect(status).to.equal(502);
      expect(body['errors']).to.deep.include({ field: 'failure', reason: 'unavailable' });
      expect(JSON.stringify(body)).not.to.match(/CERT|certificate|127\.0\.0\.1/i);
    });
  }

  async function ask(module: string) {
    const response = await fetch(`${host.url}/modules/${module}/http/things/a%20b?x=%2F`, {
      headers: { authorization: 'Bearer dev-service:reader:things' },
    });
    return { status: response.status, body: (await response.json()) as Record<string, unknown> };
  }

  async function listen(server: Server, path?: string): Promise<number> {
    servers.push(server);
    server.listen(path ?? { port: 0, host: '127.0.0.1' });
    await once(server, 'listening');
    return path === undefined ? (server.address() as AddressInfo).port : 0;
  }

  function listenTls(options: object): Promise<number> {
    return listen(createTlsServer(options, respond));
  }
});

function describeKind(module: string, kind: string, config: object): object {
  return { module, provider: { kind, config }, manifest: MANIFEST };
}

function describeTls(module: string, port: number, tls: object): object {
  const config = {
    endpoints: [`https://127.0.0.1:${port}`],
    ...(Object.keys(tls).length > 0 && { tls }),
  };
  return describeKind(module, 'http', config);
}
