import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ConfigError } from '../../errors.js';
import type { ReleaseFiles } from '../../modules/releases/release-files.js';
import { ReleaseFolder } from '../../modules/releases/release-folder.js';
import { toPrintable } from '../output/escape.js';

/**
 * Runs work on a new folder, which is removed afterwards.
 * @throws ConfigError when it cannot be created.
 */
export async function withTemporaryFolder<T>(work: (folder: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'modgate-')).catch((cause) => {
    const { code = 'unknown error' } = cause as NodeJS.ErrnoException;
    const problem = `temporary folder ${toPrintable(tmpdir())} cannot be used (${code})`;
    throw new ConfigError(`${problem}: set TMPDIR to a folder that can be written`, { cause });
  });
  try {
    return await work(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Runs work on a folder with the files, which is removed afterwards. @throws ConfigError as above. */
export function withTemporaryFiles<T>(
  files: ReleaseFiles,
  work: (folder: string) => Promise<T>,
): Promise<T> {
  return withTemporaryFolder((folder) => new ReleaseFolder(folder).withFiles(files, work));
}
