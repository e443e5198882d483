import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { TLSSocket } from 'node:tls';
import { expect } from 'chai';
import { WebSocket } from 'ws';
import { authority, server as trusted } from '../../support/certificates.js';
import { buildManifest } from '../../support/http/modules.js';
import {
  AUTHORIZATION,
  createFrame,
  echoMessages,
  ROUTES,
  writeHandshake,
} from '../../support/http/use-websockets.js';
import { waitUntil } from '../../support/http/wait-until.js';
import { shakeHands, startTlsHost, type TlsHost } from '../../support/tls/tls-host.js';

const TEXT = 0x1;
const MASK = Buffer.from([1, 2, 3, 4]);
/** More than the connections buffer together. */
const LARGE_BYTES = 4 * 1024 * 1024;
const respond: RequestListener = (_request, response) => void response.end();
const describeKind = (kind: string, config: object) => ({
  ...{ module: kind, provider: { kind, config } },
  manifest: { inline: buildManifest(kind, ROUTES) },
});

/** The host itself listens with TLS in all of them. */
describe('WebSockets over TLS and sockets of the system', () => {
  const servers: Server[] = [];
  const upgraded = new Set<string>();
  let host: TlsHost;

  before(async () => {
    const tls = await listen('http', createTlsServer(trusted, respond));
    host = await startTlsHost({}, () => []);
    const socket = join(host.folder, 'echo.sock');
    await listen('unix', createServer(respond), socket);
    const endpoints = [`https://127.0.0.1:${tls}`];
    host.write('modules.d/ca.pem', authority);
    host.write('modules.d/http.json', describeKind('http', { endpoints, tls: { ca: './ca.pem' } }));
    host.write('modules.d/unix.json', describeKind('unix', { socket }));
    await waitUntil('both modules are live', async () => {
      const socket = await shakeHands(host);
      socket.write(
        `GET /modules HTTP/1.1\r\nhost: localhost\r\nauthorization: ${AUTHORIZATION.authorization}\r\nconnection: close\r\n\r\n`,
      );
      return ((await readAll(socket)).match(/"state":"live"/g) ?? []).length === 2;
    });
  });

  after(async () => {
    await host?.stopAll();
    for (const server of servers) server.close();
  });

  async function listen(kind: string, server: Server, path?: string): Promise<number> {
    servers.push(server);
    server.on('upgrade', (request, connection, head) => {
      upgraded.add(kind);
      connection.on('error', () => {});
      echoMessages(request, connection, head);
    });
    server.listen(path ?? { port: 0, host: '127.0.0.1' });
    await once(server, 'listening');
    return path === undefined ? (server.address() as AddressInfo).port : 0;
  }

  async function readAll(socket: TLSSocket): Promise<string> {
    let text = '';
    for await (const chunk of socket) text += String(chunk);
    return text;
  }

  for (const kind of ['http', 'unix']) {
    it(`pass messages of any size to a provider of kind ${kind}`, async () => {
      const url = `wss://127.0.0.1:${host.port}/modules/${kind}/http/socket`;
      const socket = new WebSocket(url, { headers: AUTHORIZATION, ca: authority });
      await once(socket, 'open');
      for (const length of [0, 1, LARGE_BYTES]) {
        const sent = Buffer.alloc(length, 'modgate');
        socket.send(sent);
        const [received] = (await once(socket, 'message')) as [Buffer];
        expect(received.equals(sent), `${length} bytes`).to.equal(true);
      }
      socket.close(4001);
      expect((await once(socket, 'close'))[0]).to.equal(4001);
      expect([...upgraded]).to.include(kind);
    });
  }

  it('begin behind the handshake in one record', async () => {
    const socket = await shakeHands(host);
    const frame = createFrame(TEXT, 'hello', { mask: MASK });
    socket.write(Buffer.concat([Buffer.from(writeHandshake('/modules/unix/http/socket')), frame]));
    let received = Buffer.alloc(0);
    socket.on('data', (chunk: Buffer) => {
      received = Buffer.concat([received, chunk]);
    });
    const answer = createFrame(TEXT, 'hello');
    await waitUntil('the answer is there', () => received.includes(answer));
    socket.destroy();
  });
});
