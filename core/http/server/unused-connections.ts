import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { Server as TlsServer } from 'node:tls';

/**
 * Tracks connections on which a client has sent nothing, as those that browsers and pools open
 * ahead. Node does not count them as idle.
 * @returns a function that closes them
 */
export function trackUnusedConnections(server: Server): () => void {
  /** The bytes that a handshake has read. */
  const unused = new Map<Socket, number>();
  const add = (socket: Socket) => {
    unused.set(socket, socket.bytesRead);
    socket.once('close', () => unused.delete(socket));
  };
  server.on(server instanceof TlsServer ? 'secureConnection' : 'connection', add);
  for (const event of ['request', 'checkContinue', 'checkExpectation', 'upgrade', 'connect']) {
    server.on(event, ({ socket }: { socket: Socket }) => unused.delete(socket));
  }
  return () => {
    for (const [socket, bytes] of unused) {
      if (socket.bytesRead === bytes) socket.destroy();
    }
  };
}
