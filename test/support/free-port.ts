import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';

/** Systems do not give these ports to connections, or to servers that ask for any. */
const LOWEST = 12_000;
const HIGHEST = 32_000;

/**
 * Finds a port for a process that cannot choose its own. Another process is unlikely to use it
 * meanwhile.
 */
export async function findFreePort(): Promise<number> {
  const port = randomInt(LOWEST, HIGHEST);
  const server = createServer();
  try {
    await once(server.listen(port, '127.0.0.1'), 'listening');
  } catch {
    return findFreePort();
  }
  server.close();
  await once(server, 'close');
  return port;
}
