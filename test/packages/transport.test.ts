import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { createServer, type Server } from 'node:tls';
import { expect } from 'chai';
import { authority, server as certificate } from '../support/certificates.js';
import { Dnsmasq } from '../support/dns/dnsmasq.js';
import { readDocumentedBlocks } from '../support/docs/documented-commands.js';
import { createPackageFolder, type PackageFolder } from '../support/docs/package-folder.js';
import { started } from '../support/started.js';

const PAGE = 'docs/extend/transport.md';
const NAME = 'localhost';
const SERVICE = `_wire._tcp.${NAME}`;
/** The first line of a block is the path of its file. */
const FILE = /^(?:#|\/\/) (\S+)\n/;

const MANIFEST = {
  protocol: 'modgate.manifest.v1',
  module_id: 'stock',
  capabilities: ['stock.read'],
  http_routes: [{ method: 'GET', path: '/items/{id}', capability: 'stock.read' }],
};

interface Received {
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
}

describe("a stranger's adapter on modgate/transport, in the packed package", () => {
  const received: Received[] = [];
  let folder: PackageFolder | undefined;
  let server: Server | undefined;
  let dnsmasq: Dnsmasq | undefined;
  let host: ChildProcess | undefined;
  let url = '';

  before(async function () {
    server = createServer({ cert: certificate.cert, key: certificate.key }, (socket) => {
      socket.on('error', () => {});
      createInterface(socket).once('line', (line) => {
        received.push(JSON.parse(line));
        socket.end('{"left":7}');
      });
    });
    server.on('tlsClientError', () => {});
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const { port } = server.address() as AddressInfo;
    dnsmasq = await Dnsmasq.start(this, [
      'host-record=one.internal,127.0.0.1',
      `srv-host=${SERVICE},one.internal,${port},1,1`,
    ]);
    folder = await createPackageFolder();
    const { path } = folder;
    const superstruct = join(process.cwd(), 'node_modules/superstruct');
    symlinkSync(superstruct, join(path, 'node_modules/superstruct'));
    const resolver = `resolver: { servers: ['${dnsmasq.address}'], allow_local: true }`;
    const write = (name: string, text: string) => {
      mkdirSync(dirname(join(path, name)), { recursive: true });
      writeFileSync(join(path, name), text);
    };
    for (const { kind, body } of readDocumentedBlocks(PAGE)) {
      const name = FILE.exec(body)?.[1] ?? expect.fail(`a block of ${kind} names its file`);
      const text = kind === 'json' ? body.replace(FILE, '') : body;
      write(
        name,
        text.replace('stock.internal', NAME).replace('health:', `${resolver}\n    health:`),
      );
    }
    write('modules.d/stock-ca.pem', authority);
    write('modules.d/stock/manifest.json', JSON.stringify(MANIFEST));
    const args = [
      'serve',
      '--env',
      'development',
      '--port',
      '0',
      '--plugins',
      'plugins',
      '--modules',
      'modules.d',
    ];
    const main = join(path, 'node_modules/modgate/lib/core/main.js');
    host = spawn(process.execPath, [main, ...args], {
      ...{ cwd: path, stdio: ['ignore', 'pipe', 'inherit'] },
      env: { PATH: process.env['PATH'], STOCK_TOKEN: 'a-token' },
    });
    url = await new Promise<string>((resolve, reject) => {
      let output = '';
      started(host).once('exit', () => reject(new Error(`the host exited: ${output}`)));
      createInterface(started(host).stdout as NodeJS.ReadableStream).on('line', (line) => {
        output += `${line}\n`;
        const { msg, url: found } = JSON.parse(line) as { msg: string; url?: string };
        if (msg === 'listening' && found !== undefined) resolve(found);
      });
    });
  });

  after(async () => {
    if (host !== undefined) {
      host.kill();
      await once(host, 'exit');
    }
    await dnsmasq?.stop();
    server?.close();
  });

  it('finds its server by SRV, trusts its authority, and sends its credentials', async () => {
    const headers = { authorization: 'Bearer dev-service:me:stock.read' };
    const response = await fetch(`${url}/modules/stock/http/items/1?x=2`, { headers });
    const text = await response.text();
    expect(response.status, text).to.equal(200);
    expect(JSON.parse(text)).to.deep.include({ data: { left: 7 } });
    const call = received.find(({ target }) => target === '/items/1?x=2');
    expect(call?.headers).to.include({ authorization: 'Bearer a-token' });
  });

  it('shows its endpoints like kind http', async () => {
    const headers = { authorization: 'Bearer dev-system:operator' };
    const { modules } = (await (await fetch(`${url}/modules`, { headers })).json()) as {
      readonly modules: readonly {
        readonly state: string;
        readonly endpoints: readonly object[];
      }[];
    };
    const { port } = started(server).address() as AddressInfo;
    expect(modules[0]?.endpoints[0]).to.include({
      endpoint: `wires://127.0.0.1:${port} (${SERVICE})`,
    });
    expect(modules[0]).to.include({ state: 'live', resolve_error: null });
  });
});
