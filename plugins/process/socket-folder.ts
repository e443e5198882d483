import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** `sun_path` holds 108 bytes with its terminating zero on Linux (unix(7)), 104 on macOS and the BSDs. */
const MAX_SOCKET_PATH_BYTES = process.platform === 'linux' ? 107 : 103;

/** What `mkdtemp` puts in the place of the six characters at its end. */
const RANDOM = 'XXXXXX';
const SOCKET_NAME = 'm.sock';

export interface SocketFolder {
  /** Of the socket; nothing is there yet. */
  readonly socketPath: string;
  remove(): Promise<void>;
}

/**
 * A new folder that only this user may enter (mkdtemp makes it with mode 0700), in the temporary folder
 * of the system or, where that has a path too long for a socket, in /tmp. New each time: what a host that was
 * killed has left behind, a child included, is in nobody's way.
 * @throws Error when neither will do.
 */
export async function createSocketFolder(bases = [tmpdir(), '/tmp']): Promise<SocketFolder> {
  const prefixes = bases.map((base) => join(base, 'modgate-'));
  const prefix = prefixes.find(
    (one) => Buffer.byteLength(join(`${one}${RANDOM}`, SOCKET_NAME)) <= MAX_SOCKET_PATH_BYTES,
  );
  if (prefix === undefined) {
    throw new Error(
      `the temporary folder must have a path short enough for a socket (${MAX_SOCKET_PATH_BYTES} bytes in all)`,
    );
  }
  const folder = await mkdtemp(prefix);
  return {
    socketPath: join(folder, SOCKET_NAME),
    remove: () => rm(folder, { recursive: true, force: true }),
  };
}
