import { once } from 'node:events';
import { createServer, type Server as HttpServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { wsconnect } from '@nats-io/nats-core';
import { expect } from 'chai';
import { Server } from 'socket.io';
import { io } from 'socket.io-client';
import { WebSocket } from 'ws';
import { needOwnServer, type OwnServer } from '../plugins/nats/nats-server.js';
import { findFreePort } from '../support/free-port.js';
import { describeModule } from '../support/http/modules.js';
import { AUTHORIZATION } from '../support/http/use-websockets.js';
import { waitUntil } from '../support/http/wait-until.js';
import { type RunningHost, startHost } from '../support/start-host.js';
import { started } from '../support/started.js';

const CAPABILITY = 'peers.use';
const SOCKET = { method: 'GET', capability: CAPABILITY };
const LARGE_BYTES = 200_000;
const MESSAGES = 500;

describe('real clients and servers of WebSockets', () => {
  let host: RunningHost | undefined;
  const open = async (
    name: string,
    endpoint: string,
    routes: Parameters<typeof describeModule>[2],
  ) => {
    const responses = { mode: 'raw' };
    host = await startHost({
      files: { 'm.json': describeModule(name, endpoint, routes, { responses }) },
    });
    return host;
  };

  afterEach(async () => {
    await host?.stop();
    host = undefined;
  });

  describe('NATS', () => {
    let server: OwnServer | undefined;

    after(async () => {
      await server?.stop();
      server?.remove();
    });

    it('serves its own client', async function () {
      const port = await findFreePort();
      server = await needOwnServer(
        this,
        `websocket { host: "127.0.0.1", port: ${port}, no_tls: true }`,
      );
      const { url } = await open('nats', `http://127.0.0.1:${port}`, [
        { ...SOCKET, path: '/', operation: { stream: 'websocket' } },
      ]);
      const connection = await wsconnect({
        servers: `${url.replace('http', 'ws')}/modules/nats/http/`,
        wsFactory: async (address) => ({
          // It has all that the client uses.
          socket: new WebSocket(address, { headers: AUTHORIZATION }) as never,
          encrypted: false,
        }),
      });
      connection.subscribe('double', {
        callback: (_error, message) =>
          void message.respond(Buffer.concat([message.data, message.data])),
      });
      const payload = Buffer.alloc(LARGE_BYTES, 'nats');
      const answer = await connection.request('double', payload, { timeout: 10_000 });
      expect(Buffer.from(answer.data).equals(Buffer.concat([payload, payload]))).to.equal(true);
      const counted = connection.subscribe('count', { max: MESSAGES });
      for (let index = 0; index < MESSAGES; index += 1) connection.publish('count', String(index));
      const received: string[] = [];
      for await (const message of counted) received.push(message.string());
      expect(received).to.deep.equal(Array.from({ length: MESSAGES }, (_, index) => String(index)));
      await connection.drain();
    });
  });

  describe('socket.io', () => {
    let server: HttpServer | undefined;
    let sockets: Server | undefined;

    after(async () => {
      await sockets?.close();
      server?.close();
    });

    it('polls, then upgrades', async () => {
      server = createServer().listen(0, '127.0.0.1');
      await once(server, 'listening');
      sockets = new Server(server, { path: '/socket.io/' });
      sockets.on('connection', (socket) => {
        socket.on('double', (text: string, bytes: Buffer, done: (...all: unknown[]) => void) =>
          done(text + text, Buffer.concat([bytes, bytes])),
        );
      });
      const { port } = server.address() as AddressInfo;
      const path = '/socket.io/';
      const bytes = { response: 'bytes' };
      const { url } = await open('chat', `http://127.0.0.1:${port}`, [
        { ...SOCKET, path, operation: { ...bytes, operation_id: 'poll' } },
        { ...SOCKET, path, operation: { stream: 'websocket', operation_id: 'upgrade' } },
        { ...SOCKET, path, method: 'POST', operation: { ...bytes, body: 'bytes' } },
      ]);
      const client = io(url, {
        path: '/modules/chat/http/socket.io/',
        extraHeaders: AUTHORIZATION,
        transports: ['polling', 'websocket'],
        reconnection: false,
      });
      const upgraded = new Promise((resolve) => client.io.engine.once('upgrade', resolve));
      await new Promise<void>((resolve, reject) => {
        client.once('connect', () => resolve());
        client.once('connect_error', reject);
      });
      const expectDouble = (text: string, payload: Buffer) =>
        new Promise<void>((resolve, reject) => {
          client
            .timeout(10_000)
            .emit('double', text, payload, (error: Error | null, two: string, twice: Buffer) => {
              if (error !== null) return reject(error);
              expect(two).to.equal(text + text);
              expect(twice.equals(Buffer.concat([payload, payload]))).to.equal(true);
              resolve();
            });
        });
      await expectDouble('polled', Buffer.from('bytes'));
      await upgraded;
      expect(client.io.engine.transport.name).to.equal('websocket');
      await expectDouble('über'.repeat(100), Buffer.alloc(LARGE_BYTES, 7));
      client.disconnect();
      await waitUntil('all kinds of calls are recorded', async () => {
        const calls = await listCalls(started(host));
        return ['GET 101', 'GET 200', 'POST 200'].every((call) => calls.includes(call));
      });
    });
  });
});

async function listCalls({ url }: RunningHost): Promise<string[]> {
  const response = await fetch(`${url}/calls?limit=100`, { headers: AUTHORIZATION });
  const { calls } = (await response.json()) as { calls: { method: string; status: number }[] };
  return calls.map(({ method, status }) => `${method} ${status}`);
}
