import { opendir, stat } from 'node:fs/promises';
import { describeUnreadable } from '../document/read-file.js';
import { ConfigError } from '../errors.js';

const WORDS: Readonly<Record<string, string>> = {
  ENOENT: 'does not exist',
  ENOTDIR: 'is not a folder',
};

/**
 * Accepts an empty folder, but not a missing one, which is probably a mistake.
 * @throws ConfigError that names the source and the folder.
 */
export async function requireFolder(folder: string, source: string): Promise<void> {
  try {
    await (await opendir(folder)).close();
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    const reason = WORDS[code] ?? describeUnreadable(error);
    throw new ConfigError(`${source} must be a folder that can be read: ${folder} ${reason}`, {
      cause: error,
    });
  }
}

/** Accepts a missing folder, which is created later. @throws ConfigError for a file. */
export async function requireNoFile(folder: string, source: string): Promise<void> {
  const status = await stat(folder).catch(() => null);
  if (status === null || status.isDirectory()) return;
  throw new ConfigError(`${source} must be a folder: ${folder} ${WORDS['ENOTDIR']}`);
}
