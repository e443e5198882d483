import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { request } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect } from 'chai';
import { WebSocket } from 'ws';
import { authority, server as certificate } from '../../support/certificates.js';
import { findFreePort } from '../../support/free-port.js';
import { describeModule } from '../../support/http/modules.js';
import { echoMessages } from '../../support/http/use-websockets.js';
import { waitUntil } from '../../support/http/wait-until.js';
import { startNginx } from '../../support/nginx.js';
import { answerJson, type ScriptedProvider, startProvider } from '../../support/provider.js';
import { type HostProcess, startHostProcess } from '../../support/start-host.js';
import { createFolder } from '../../support/temporary-folder.js';

const PAGE = 'docs/operate/reverse-proxy.md';
/** The client: another address of loopback than that of the proxy. */
const CLIENT = '127.0.0.2';
const TOKEN = 'operator-of-this-test';
const TOKENS = {
  tokens: [
    {
      ...{ id: 'ops', kind: 'service', scopes: ['crm.read', 'modgate.calls.read'] },
      sha256: createHash('sha256').update(TOKEN).digest('hex'),
    },
  ],
};

interface Answer {
  readonly status: number | undefined;
  readonly body: string;
}

interface Addresses {
  /** The port of the host. */
  readonly host: number;
  /** The port of a server of event streams. */
  readonly live: number;
  readonly port: number;
}

interface Proxy {
  readonly command: string;
  readonly package: string;
  /** Whether CI has it, so that it must not be missing there. */
  readonly isRequired: boolean;
  /** @param block of the page, of which only addresses and files are changed */
  start(folder: string, block: string, addresses: Addresses): ChildProcess;
}

const nginx: Proxy = {
  command: 'nginx',
  package: 'nginx-light',
  isRequired: true,
  start: (folder, block, { host, live, port }) => {
    const http = replaceAll(block, [
      ['server 127.0.0.1:3000;', `server 127.0.0.1:${host};`],
      ['server 127.0.0.1:4200;', `server 127.0.0.1:${live};`],
      ['listen 443 ssl;', `listen 127.0.0.1:${port} ssl;`],
      ['/etc/nginx/gateway.pem', join(folder, 'gateway.pem')],
      ['/etc/nginx/gateway.key', join(folder, 'gateway.key')],
    ]);
    return startNginx(folder, http);
  },
};

const caddy: Proxy = {
  command: 'caddy',
  package: 'caddy',
  isRequired: false,
  start: (folder, block, { host, live, port }) => {
    // The certificate of the test, where Caddy would request one.
    const tls = `  tls ${folder}/gateway.pem ${folder}/gateway.key\n  bind 127.0.0.1\n`;
    const site = replaceAll(block, [
      ['gateway.example.com {\n', `https://gateway.example.com:${port} {\n${tls}`],
      ['127.0.0.1:3000', `127.0.0.1:${host}`],
      ['127.0.0.1:4200', `127.0.0.1:${live}`],
    ]);
    const file = join(folder, 'Caddyfile');
    const options = ['admin off', 'auto_https off'];
    writeFileSync(file, `{\n${options.join('\n')}\n}\n${site}`);
    const env = { PATH: process.env['PATH'], HOME: folder, XDG_CONFIG_HOME: folder };
    const args = ['run', '--adapter', 'caddyfile', '--config', file];
    return spawn('caddy', args, { stdio: 'ignore', env });
  },
};

describe(`${PAGE}, nginx`, () => describeProxy(nginx));
describe(`${PAGE}, Caddy (skipped where it is not installed)`, () => describeProxy(caddy));

function describeProxy(proxy: Proxy): void {
  let folder: string;
  let provider: ScriptedProvider;
  let host: HostProcess;
  let port: number;
  const live = createServer((_request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' }).write('data: 1\n\n');
  });
  let child: ChildProcess | undefined;
  let exited: Promise<unknown> | undefined;

  before(async function () {
    if (spawnSync(proxy.command, ['-v']).error !== undefined) {
      const message = `needs ${proxy.command}: apt-get install ${proxy.package}`;
      if (proxy.isRequired && process.env['CI'] === 'true') throw new Error(message);
      console.log(`      skipped: ${message}`);
      this.skip();
    }
    folder = createFolder();
    provider = await startProvider(answerJson({ id: 'a/b' }), { onUpgrade: echoMessages });
    await once(live.listen(0, '127.0.0.1'), 'listening');
    port = await findFreePort();
    host = await startHostProcess({
      dev: false,
      tokens: TOKENS,
      args: [
        ...['--public-url', `https://gateway.example.com:${port}`],
        ...['--trusted-proxies', '127.0.0.1', '--auth-failures', '20'],
      ],
      files: {
        'crm.json': describeModule('acme/crm', provider.url, [
          { method: 'GET', path: '/items/{id}', capability: 'crm.read' },
          {
            ...{ method: 'GET', path: '/socket', capability: 'crm.read' },
            operation: { stream: 'websocket' },
          },
        ]),
      },
    });
    writeFileSync(join(folder, 'gateway.pem'), certificate.cert);
    writeFileSync(join(folder, 'gateway.key'), certificate.key);
    const addresses = { host: host.port, live: (live.address() as AddressInfo).port, port };
    child = proxy.start(folder, readBlock(proxy.command), addresses);
    exited = once(child, 'exit');
    await waitUntil(proxy.command, () =>
      ask('/livez').then(
        () => true,
        () => false,
      ),
    );
  });

  after(async () => {
    child?.kill();
    await exited;
    live.closeAllConnections();
    live.close();
    await host?.stop();
    await provider?.stop();
  });

  /** @param isOpen whether the response goes on after its first bytes */
  const ask = async (path: string, headers: object = {}, isOpen = false): Promise<Answer> => {
    const sent = request({
      ...{ host: '127.0.0.1', port, path, localAddress: CLIENT, servername: 'localhost' },
      ...{ ca: authority, agent: false },
      headers: { host: 'gateway.example.com', ...headers },
    }).end();
    const [response] = await once(sent, 'response');
    let body = '';
    for await (const chunk of response) {
      body += String(chunk);
      if (isOpen) break;
    }
    return { status: response.statusCode, body };
  };
  const authorized = { authorization: `Bearer ${TOKEN}` };

  it('passes calls on with their raw path', async () => {
    const { status, body } = await ask('/modules/acme%2Fcrm/http/items/7?q=a%2Fb', authorized);
    expect(status).to.equal(200);
    expect(JSON.parse(body)).to.deep.include({ data: { id: 'a/b' } });
    expect(provider.requests.at(-1)?.target).to.equal('/items/7?q=a%2Fb');
  });

  it('lets the host find the client, regardless of what the client claims', async () => {
    const claimed = { ...authorized, 'x-forwarded-for': '192.0.2.1', 'x-request-id': 'claimed' };
    expect((await ask('/modules/acme%2Fcrm/http/items/8', claimed)).status).to.equal(200);
    const { body } = await ask('/calls?limit=1', authorized);
    expect(JSON.parse(body).calls[0]).to.include({ client: CLIENT });
  });

  it('carries WebSockets to the host', async () => {
    const client = new WebSocket(`wss://127.0.0.1:${port}/modules/acme%2Fcrm/http/socket`, {
      ...{ ca: authority, servername: 'localhost' },
      headers: { host: 'gateway.example.com', ...authorized },
    });
    client.on('open', () => client.send('hello'));
    const [data] = await once(client, 'message');
    expect(String(data)).to.equal('hello');
    client.close();
    await once(client, 'close');
  });

  it('hides metrics and shows the console', async () => {
    expect((await ask('/metrics', authorized)).status).to.equal(404);
    expect((await ask('/console/')).status).to.equal(200);
  });

  it('carries event streams past the host', async () => {
    expect(await ask('/live/events', {}, true)).to.deep.equal({ status: 200, body: 'data: 1\n\n' });
  });
}

function readBlock(language: string): string {
  const [, block = ''] =
    new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``).exec(readFileSync(PAGE, 'utf8')) ?? [];
  return block;
}

function replaceAll(block: string, changes: readonly (readonly [string, string])[]): string {
  return changes.reduce((text, [from, to]) => {
    expect(text).to.include(from);
    return text.replace(from, to);
  }, block);
}
