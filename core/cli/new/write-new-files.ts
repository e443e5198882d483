import { lstat, mkdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { ConfigError } from '../../errors.js';

export interface NewFile {
  /** From the folder that it is written to. */
  readonly path: string;
  readonly text: string;
}

const REASONS: Readonly<Record<string, string>> = {
  EACCES: 'may not be written by this user',
  EEXIST: 'is there already',
  ENOSPC: 'does not fit on the disk',
  ENOTDIR: 'is not in a folder',
  EROFS: 'is on a disk that cannot be written',
};

/**
 * Writes all files, in their order, or none. Folders that lack are made.
 * @returns where they are.
 * @throws ConfigError for a file, or a folder of one, that is there already, or that cannot be written.
 */
export async function writeNewFiles(folder: string, files: readonly NewFile[]): Promise<string[]> {
  for (const path of listPlaces(folder, files)) await assertNotExisting(path);
  const made: string[] = [];
  try {
    for (const { path, text } of files) await writeNewFile(folder, path, text, made);
  } catch (error) {
    for (const path of made.reverse()) await rm(path, { recursive: true, force: true });
    throw error;
  }
  return files.map(({ path }) => join(folder, path));
}

/** The files and the folders of their own. */
function listPlaces(folder: string, files: readonly NewFile[]): Set<string> {
  const own = files.map(({ path }) => dirname(path)).filter((path) => path !== '.');
  return new Set([...own, ...files.map(({ path }) => path)].map((path) => join(folder, path)));
}

async function writeNewFile(
  folder: string,
  file: string,
  text: string,
  made: string[],
): Promise<void> {
  const path = join(folder, file);
  try {
    const firstMade = await mkdir(dirname(path), { recursive: true });
    if (firstMade !== undefined) made.push(firstMade);
    // Fails for one that has come since it was looked for.
    await writeFile(path, text, { flag: 'wx' });
    made.push(path);
  } catch (error) {
    throw createWriteError(path, error);
  }
}

async function assertNotExisting(path: string): Promise<void> {
  const isThere = await lstat(path).then(
    () => true,
    () => false,
  );
  if (isThere) throw new ConfigError(`${path} is there already: nothing was written`);
}

function createWriteError(path: string, error: unknown): ConfigError {
  const { code = '' } = error as NodeJS.ErrnoException;
  const reason = REASONS[code] ?? 'cannot be written';
  return new ConfigError(`${path} ${reason}: nothing was written`, { cause: error });
}
