import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { Server as TlsServer } from 'node:tls';

/** A request may be on its way on a connection that was opened just now. Milliseconds. */
const SILENT_MS = 1000;

/**
 * Tracks connections on which a client has sent nothing, as those that browsers and pools open
 * ahead. Node does not count them as idle.
 * @returns a function that closes those that stay silent for a second; call it when none is accepted
 * any more
 */
export function trackUnusedConnections(server: Server): () => void {
  /** The bytes that a handshake has read. */
  const unused = new Map<Socket, number>();
  const add = (socket: Socket) => {
    unused.set(socket, socket.bytesRead);
    socket.on('close', () => unused.delete(socket));
  };
  server.on(server instanceof TlsServer ? 'secureConnection' : 'connection', add);
  for (const event of ['request', 'checkContinue', 'checkExpectation', 'upgrade', 'connect']) {
    server.on(event, ({ socket }: { socket: Socket }) => unused.delete(socket));
  }
  const close = () => {
    for (const [socket, bytes] of unused) {
      if (socket.bytesRead === bytes) socket.destroy();
    }
  };
  // The connections keep the process alive.
  return () => void setTimeout(close, SILENT_MS).unref();
}
