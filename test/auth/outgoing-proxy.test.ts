import { once } from 'node:events';
import { createServer } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { type AddressInfo, connect } from 'node:net';
import { join } from 'node:path';
import { expect } from 'chai';
import { authority, elsewhere } from '../support/certificates.js';
import { createSigningKey, ISSUER, signToken } from '../support/fake-issuer.js';
import { call } from '../support/http/call.js';
import { buildManifest, describeModule } from '../support/http/modules.js';
import { waitUntil } from '../support/http/wait-until.js';
import { type RunningHost, startHostProcess } from '../support/start-host.js';
import { createFolder } from '../support/temporary-folder.js';
import { use } from '../support/use.js';

const ROUTES = [{ method: 'GET', path: '/items', capability: 'crm.read' }];
const TARGET = '/modules/crm/http/items';

describe('the proxy of the environment', () => {
  const key = use(() => createSigningKey('first'));
  /** Keys, introspection and manifests of `elsewhere.example`. */
  const site = use(
    async () => {
      const answers = (target: string) => {
        if (target === '/jwks') return { keys: [key.jwk] };
        if (target === '/introspect') return { active: true, sub: 'opaque', scope: 'crm.read' };
        return buildManifest('crm', ROUTES);
      };
      const options = { key: elsewhere.key, cert: elsewhere.cert };
      const secure = createTlsServer(options, (request, response) => {
        response.setHeader('content-type', 'application/json');
        response.end(JSON.stringify(answers(request.url ?? '')));
      });
      await once(secure.listen(0, '127.0.0.1'), 'listening');
      return secure;
    },
    (secure) => secure.close(),
  );
  let carried: string[] = [];
  let accepts = true;
  const proxy = use(
    async () => {
      const server = createServer((request, response) => {
        carried.push(`${request.method} ${request.url}`);
        response.setHeader('content-type', 'application/json');
        response.end(JSON.stringify(buildManifest('crm', ROUTES)));
      });
      server.on('connect', (request, socket) => {
        const credentials = String(request.headers['proxy-authorization']).replace('Basic ', '');
        carried.push(`${request.url} ${Buffer.from(credentials, 'base64').toString()}`);
        if (!accepts) return socket.end('HTTP/1.1 407 No\r\n\r\n');
        const target = connect((site.address() as AddressInfo).port, '127.0.0.1');
        for (const one of [socket, target]) one.on('error', () => {});
        socket.write('HTTP/1.1 200 OK\r\n\r\n');
        socket.pipe(target).pipe(socket);
      });
      await once(server.listen(0, '127.0.0.1'), 'listening');
      return server;
    },
    (server) => {
      server.close();
      server.closeAllConnections();
    },
  );

  beforeEach(() => {
    carried = [];
    accepts = true;
  });

  const run = async (
    environment: Readonly<Record<string, string>>,
    test: (host: RunningHost) => Promise<void>,
    manifest?: string,
  ) => {
    const issuers = [
      {
        issuer: ISSUER,
        audience: 'modgate',
        algorithms: ['RS256'],
        jwks: { url: 'https://elsewhere.example/jwks' },
        actor: { kind: 'service' },
      },
    ];
    const introspection = [
      {
        name: 'login',
        url: 'https://elsewhere.example/introspect',
        client_id: 'modgate',
        client_secret: 'env:LOGIN_SECRET',
        actor: { kind: 'service' },
      },
    ];
    const folder = createFolder({
      'issuers.json': JSON.stringify({ issuers, introspection }),
      'ca.pem': authority,
    });
    const described = manifest === undefined ? {} : { manifest: { url: manifest } };
    const module = describeModule('crm', 'http://127.0.0.1:1', ROUTES, described);
    const host = await startHostProcess({
      args: ['--issuers', join(folder, 'issuers.json')],
      env: {
        LOGIN_SECRET: 'x',
        NODE_EXTRA_CA_CERTS: join(folder, 'ca.pem'),
        ...environment,
      },
      files: { 'crm.json': module },
    });
    try {
      await test(host);
    } finally {
      await host.stop();
    }
  };
  const url = () => `http://ann:s%20x@127.0.0.1:${(proxy.address() as AddressInfo).port}`;
  const get = (host: RunningHost, as: string) => call(host, { target: TARGET, as });

  it('carries requests for keys and introspections', async () => {
    await run({ HTTPS_PROXY: url() }, async (host) => {
      // The provider is down.
      expect((await get(host, await signToken(key))).status).to.equal(502);
      expect((await get(host, 'opaque-token')).status).to.equal(502);
    });
    expect(new Set(carried)).to.deep.equal(new Set(['elsewhere.example:443 ann:s x']));
  });

  it('carries requests for manifests, and those without TLS as they are', async () => {
    for (const [manifest, line] of [
      ['https://elsewhere.example/m.json', 'elsewhere.example:443 ann:s x'],
      ['http://elsewhere.example/m.json', 'GET http://elsewhere.example/m.json'],
    ] as const) {
      carried = [];
      await run(
        { HTTP_PROXY: url() },
        async (host) => {
          const token = await signToken(key);
          await waitUntil('the module', async () => (await get(host, token)).status === 502);
        },
        manifest,
      );
      expect(carried).to.include(line);
    }
  });

  it('carries nothing to hosts of NO_PROXY, nor to this machine', async () => {
    const environment = { HTTPS_PROXY: url(), HTTP_PROXY: url(), NO_PROXY: '.example' };
    await run(environment, async (host) => {
      expect((await get(host, await signToken(key))).status).to.equal(503);
    });
    const { port } = proxy.address() as AddressInfo;
    await run(
      { HTTP_PROXY: 'http://127.0.0.1:9', HTTPS_PROXY: url() },
      async (host) => {
        const token = await signToken(key);
        await waitUntil('the module', async () => (await get(host, token)).status === 502);
      },
      `http://127.0.0.1:${port}/own`,
    );
    expect(carried).to.include('GET /own');
    expect(carried.filter((line) => line.includes('127.0.0.1'))).to.deep.equal([]);
  });

  it('is named where it does not carry a request', async () => {
    accepts = false;
    await run({ HTTPS_PROXY: url() }, async (host) => {
      expect((await get(host, await signToken(key))).status).to.equal(503);
      expect(host.output()).to.include('through the proxy of the environment');
      expect(host.output()).not.to.include('s%20x').and.not.to.include('s x');
    });
  });
});
