import type { Server } from 'node:http';
import type { TLSSocket } from 'node:tls';
import type { ReloadedPair } from './open-tls.js';

/**
 * The time for requests in flight; then connections with a certificate of the previous client CA
 * are closed.
 */
const GRACE_MS = 1000;

/**
 * Tracks connections with a client certificate.
 * @returns a function that closes them when the client CA changes, because it may have been
 * withdrawn
 */
export function closeWithdrawnClients(server: Server, tls: ReloadedPair): () => void {
  if (tls.current.ca === null) return () => {};
  const clients = new Set<TLSSocket>();
  server.on('secureConnection', (socket: TLSSocket) => {
    if (!socket.authorized) return;
    clients.add(socket);
    socket.once('close', () => clients.delete(socket));
  });
  return () => {
    const withdrawn = [...clients];
    const destroy = () => {
      for (const socket of withdrawn) socket.destroy();
    };
    setTimeout(destroy, GRACE_MS).unref();
  };
}
