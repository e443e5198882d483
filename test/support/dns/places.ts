import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';

/** A provider that every address of loopback reaches. */
export interface Places {
  readonly port: number;
  /** Responses of `/slow` end when this is called. */
  release(): void;
  close(): Promise<void>;
}

/**
 * Answers the address that was called and the `host` header, and a `location` below it, or below
 * `host` of the query. `/slow` waits until it is released.
 */
export async function startPlaces(): Promise<Places> {
  const waiting: (() => void)[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((request, response) => {
    const at = request.socket.localAddress;
    const answer = () => {
      response.setHeader('content-type', 'application/json');
      const named = new URL(request.url ?? '/', 'http://place').searchParams.get('host');
      response.setHeader('location', `http://${named ?? request.headers.host}/api/things/1`);
      response.end(JSON.stringify({ at, host: request.headers.host, target: request.url }));
    };
    if (request.url?.endsWith('/slow') === true) waiting.push(answer);
    else answer();
  });
  server.on('connection', (socket) => {
    sockets.add(socket.once('close', () => sockets.delete(socket)));
  });
  await once(server.listen(0, '0.0.0.0'), 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    release: () => {
      for (const answer of waiting.splice(0)) answer();
    },
    close: async () => {
      for (const socket of sockets) socket.destroy();
      await once(server.close(), 'close');
    },
  };
}
