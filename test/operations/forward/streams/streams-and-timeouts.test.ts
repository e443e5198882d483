import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { expect } from 'chai';
import { ROOT } from '../../../support/http/call.js';
import { describeModule } from '../../../support/http/modules.js';
import { waitUntil } from '../../../support/http/wait-until.js';
import { type RunningHost, startHost } from '../../../support/start-host.js';
import { startStreamingProvider } from '../../../support/streaming-provider.js';
import { useEach } from '../../../support/use.js';

const ROUTES = [
  { method: 'POST', path: '/items', capability: 'items.write' },
  { method: 'PUT', path: '/files', capability: 'items.write', operation: { body: 'bytes' } },
  { method: 'GET', path: '/files', capability: 'items.write', operation: { response: 'bytes' } },
];
const LENGTH = 100_000;
const START = `["${'x'.repeat(2000)}"`;
const REST = `${' '.repeat(LENGTH - START.length - 1)}]`;

describe('streamed bodies and the timeouts of the host', () => {
  let host: RunningHost;
  let sockets: Socket[] = [];
  /** Bytes of bodies that have reached the provider. */
  let arrived = 0;
  let cuts = 0;

  const start = async (args: readonly string[]) => {
    const { url } = provider;
    const describe = (name: string, limits: object) =>
      describeModule(name, url, ROUTES, { limits });
    host = await startHost({
      args,
      files: {
        'long.json': describe('long', { hold_request_bytes: 1000 }),
        'held.json': describe('held', {}),
      },
    });
  };
  /** Begins a request. */
  const open = async (request: string, headers: string, body = '') => {
    const socket = connect(host.port, '127.0.0.1');
    sockets.push(socket);
    socket.on('error', () => {});
    await once(socket, 'connect');
    socket.write(
      `${request} HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${ROOT}\r\n${headers}\r\n${body}`,
    );
    return socket;
  };
  const post = (module: string) =>
    open(
      `POST /modules/${module}/http/items`,
      `content-type: application/json\r\nconnection: close\r\ncontent-length: ${LENGTH}\r\n`,
      START,
    );
  const readAll = async (socket: Socket) => {
    let text = '';
    for await (const part of socket) text += String(part);
    return text;
  };

  const provider = useEach(() => {
    arrived = 0;
    cuts = 0;
    return startStreamingProvider((request, response) => {
      request.on('error', () => {});
      request.on('data', (part: Buffer) => {
        arrived += part.length;
      });
      request.once('close', () => {
        cuts += request.complete ? 0 : 1;
      });
      const begin = () => response.writeHead(200, { 'content-type': 'application/json' });
      if (request.method === 'GET') begin().write('begun');
      else request.once('end', () => begin().end('{}'));
    });
  });

  afterEach(async () => {
    for (const socket of sockets) socket.destroy();
    sockets = [];
    await host?.stop();
  });

  it('may take longer than --request-timeout-ms, unlike bodies that are held', async () => {
    await start(['--request-timeout-ms', '300', '--head-timeout-ms', '300']);
    const long = await post('long');
    const file = await open(
      'PUT /modules/long/http/files',
      `connection: close\r\ncontent-length: ${LENGTH}\r\n`,
      START,
    );
    await waitUntil('both arrive', () => arrived >= 2 * START.length);
    // It begins last.
    expect(await readAll(await post('held'))).to.match(/^HTTP\/1\.1 408 /);
    for (const socket of [long, file]) {
      socket.write(REST);
      expect(await readAll(socket)).to.match(/^HTTP\/1\.1 200 /);
    }
    expect(arrived).to.equal(2 * LENGTH);
  });

  it('are cut at the end of --drain-ms, and look whole to neither side', async () => {
    await start(['--drain-ms', '200']);
    const upload = await post('long');
    const download = await open('GET /modules/long/http/files', '');
    const [head] = (await once(download, 'data')) as [Buffer];
    await waitUntil('the upload arrives', () => arrived >= START.length);
    const sent = Promise.all(
      [readAll(upload), readAll(download)].map((text) => text.catch(() => '')),
    );
    expect(await host.stop()).to.deep.include({ code: 0 });
    const [answer = '', rest = ''] = await sent;
    expect(answer).not.to.match(/^HTTP\/1\.1 2/);
    expect(head.toString()).to.match(/^HTTP\/1\.1 200 .*\r\ntransfer-encoding: chunked\r/is);
    expect(head.toString() + rest).not.to.match(/\r\n0\r\n\r\n$/);
    await waitUntil('the provider sees a cut', () => cuts === 1);
  });
});
