import { lstat, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { ConfigError } from '../../errors.js';
import { createFolder } from '../../lib/create-folder.js';

export interface NewFile {
  /** Relative to the target folder. */
  readonly path: string;
  readonly content: string | Uint8Array;
}

const REASONS: Readonly<Record<string, string>> = {
  EACCES: 'is not writable by this user',
  EEXIST: 'already exists',
  ENOSPC: 'cannot be written: the disk is full',
  ENOENT: 'cannot be created in this folder',
  ENOTDIR: 'is not in a folder',
  EROFS: 'is on a read-only disk',
};

/**
 * Writes all files in order, or none. Creates missing folders.
 * @returns their paths.
 * @throws ConfigError for a file or its folder that exists, or cannot be written.
 */
export async function writeNewFiles(folder: string, files: readonly NewFile[]): Promise<string[]> {
  for (const path of listPaths(folder, files)) await assertNotExisting(path);
  const created: string[] = [];
  try {
    for (const { path, content } of files) {
      await writeNewFile(folder, path, content, created);
    }
  } catch (error) {
    for (const path of created.reverse()) await rm(path, { recursive: true, force: true });
    throw error;
  }
  return files.map(({ path }) => join(folder, path));
}

/** The files and their folders below the target folder. */
function listPaths(folder: string, files: readonly NewFile[]): Set<string> {
  const folders = files.map(({ path }) => dirname(path)).filter((path) => path !== '.');
  return new Set([...folders, ...files.map(({ path }) => path)].map((path) => join(folder, path)));
}

async function writeNewFile(
  folder: string,
  file: string,
  content: string | Uint8Array,
  created: string[],
): Promise<void> {
  const path = join(folder, file);
  try {
    const firstCreated = await createFolder(dirname(path));
    if (firstCreated !== undefined) created.push(firstCreated);
    // Fails for a file that was created meanwhile.
    await writeFile(path, content, { flag: 'wx' });
    created.push(path);
  } catch (error) {
    throw createWriteError(path, error);
  }
}

async function assertNotExisting(path: string): Promise<void> {
  const exists = await lstat(path).then(
    () => true,
    () => false,
  );
  if (exists) throw new ConfigError(`${path} already exists: nothing was written`);
}

function createWriteError(path: string, error: unknown): ConfigError {
  const { code = '' } = error as NodeJS.ErrnoException;
  const reason = REASONS[code] ?? 'cannot be written';
  return new ConfigError(`${path} ${reason}: nothing was written`, { cause: error });
}
