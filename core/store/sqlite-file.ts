import { lstatSync, type Stats, statSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { createFolder } from '../lib/create-folder.js';
import { StoreUnavailable } from './store-unavailable.js';

// The file may contain secrets: only the host's user may read it. SQLite gives -wal and -shm the same mode.
const FILE_MODE = 0o600;
const FOLDER_MODE = 0o700;

export function sqliteFile(stateDir: string): string {
  return join(stateDir, 'modgate.db');
}

/**
 * Creates the file and its folder where they are missing. An existing file is not opened here: closing it
 * would drop the locks that SQLite holds on it in this process (sqlite.org/howtocorrupt.html, section 2.2).
 */
export async function createSqliteFile(stateDir: string): Promise<void> {
  await createFolder(stateDir, FOLDER_MODE);
  const path = sqliteFile(stateDir);
  try {
    const file = await open(path, 'wx', FILE_MODE);
    await file.close();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    assertOwnFile(path);
  }
}

/**
 * SQLite would wait for the writer of a pipe, and would write to the target of a symbolic link.
 * @throws StoreUnavailable without a file, and for anything but a regular file.
 */
export function assertOwnFile(path: string): void {
  if (readStatus(path).isFile()) return;
  throw new StoreUnavailable('cannot_open', { message: 'the store file is not a regular file' });
}

function readStatus(path: string): Stats {
  try {
    return lstatSync(path);
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') throw new StoreUnavailable('missing', { cause });
    throw new StoreUnavailable('cannot_open', { nativeCode: code, cause });
  }
}

/**
 * Creates a check that the file at this path has not been replaced. SQLite continues to write into a file
 * that was deleted or replaced, and those writes would be lost.
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
