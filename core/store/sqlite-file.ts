import { type Stats, statSync } from 'node:fs';
import { mkdir, open } from 'node:fs/promises';
import { join } from 'node:path';
import { StoreUnavailable } from './store-unavailable.js';

// It holds config values, perhaps secrets: for the user of the host alone. SQLite gives its -wal and -shm the same.
const FILE_MODE = 0o600;
const FOLDER_MODE = 0o700;

export function sqliteFile(stateDir: string): string {
  return join(stateDir, 'modgate.db');
}

/**
 * Makes the file, and its folder, where they are missing. An existing one is not even opened here: to
 * close it again would drop the locks that SQLite has on it in this process (sqlite.org/howtocorrupt, 2.2).
 */
export async function createSqliteFile(stateDir: string): Promise<void> {
  await mkdir(stateDir, { recursive: true, mode: FOLDER_MODE });
  try {
    const file = await open(sqliteFile(stateDir), 'wx', FILE_MODE);
    await file.close();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}

/**
 * A check that the file at this path is still the one that is there now. SQLite goes on writing into a
 * file that was deleted or replaced, and all of it would be lost.
 */
export function watchIdentity(file: string): () => void {
  const opened = findFile(file);
  return () => {
    const current = findFile(file);
    if (current === undefined || current.ino !== opened?.ino || current.dev !== opened.dev) {
      throw new StoreUnavailable('moved');
    }
  };
}

function findFile(file: string): Stats | undefined {
  return statSync(file, { throwIfNoEntry: false });
}
