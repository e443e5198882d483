import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** `sun_path` holds 108 bytes with its terminating zero on Linux (unix(7)), 104 on macOS and the BSDs. */
const MAX_SOCKET_PATH_BYTES = process.platform === 'linux' ? 107 : 103;

/** As long as the suffix of `mkdtemp`. */
const RANDOM = 'XXXXXX';
const SOCKET_NAME = 'm.sock';

interface SocketFolder {
  /** Path of the socket, which does not exist yet. */
  readonly socketPath: string;
  remove(): Promise<void>;
}

/**
 * Creates a folder that only this user may enter (mode 0700), in the temporary folder of the system or,
 * if that path is too long for a socket, in /tmp. A new folder avoids conflicts with files and children
 * that a killed host left behind.
 * @throws Error when both paths are too long.
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
