import { once } from 'node:events';
import { createServer, type IncomingMessage, type RequestListener } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { Duplex } from 'node:stream';

export interface StreamingProvider {
  readonly url: string;
  /** Open connections. */
  readonly sockets: ReadonlySet<Socket>;
  /** Handles upgrades. Without a listener they are handled as other requests. */
  onUpgrade(listener: (request: IncomingMessage, connection: Duplex, head: Buffer) => void): void;
  stop(): Promise<void>;
}

/** Starts an HTTP provider on a free port. `listener` is called with the head of each request. */
export async function startStreamingProvider(
  listener: RequestListener,
): Promise<StreamingProvider> {
  const sockets = new Set<Socket>();
  const server = createServer(listener);
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.on('close', () => sockets.delete(socket));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    sockets,
    onUpgrade: (upgrade) => void server.on('upgrade', upgrade),
    async stop() {
      server.close();
      for (const socket of sockets) socket.destroy();
      await once(server, 'close');
    },
  };
}
