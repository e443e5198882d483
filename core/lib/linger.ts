import type { Duplex } from 'node:stream';

/** The time for the other end to read the last bytes and to disconnect. Milliseconds. */
const LINGER_MS = 1000;

/** Destroys a connection after a delay: an end that never closes must not keep it open. */
export function destroyLater(connection: Duplex): void {
  const timer = setTimeout(() => connection.destroy(), LINGER_MS);
  connection.once('close', () => clearTimeout(timer));
}
