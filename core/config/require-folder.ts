import { access, constants, opendir, stat, statfs } from 'node:fs/promises';
import { dirname } from 'node:path';
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

/** The type of the file system of `/proc`, which takes no new files. */
const PROC_SUPER_MAGIC = 0x9fa0;

/** Codes of mistakes in a setting. A disk that fails, is full or read-only must not end a start. */
const MISTAKES: ReadonlySet<unknown> = new Set(['EACCES', 'EPERM', 'ENOTDIR']);

/**
 * Accepts a missing folder that can be created later, and one that cannot be written: the host logs
 * what it cannot keep.
 * @throws ConfigError for a file, and for a folder that the user of the process may not create.
 */
export async function requireCreatable(folder: string, source: string): Promise<void> {
  const reason = await explainUncreatable(folder, constants.F_OK);
  if (reason !== null) throw new ConfigError(`${source} must be a folder: ${reason}`);
}

/** @param mode what the process needs of the folder if it exists, from `constants` */
async function explainUncreatable(path: string, mode: number): Promise<string | null> {
  try {
    if (!(await stat(path)).isDirectory()) return `${path} ${WORDS['ENOTDIR']}`;
    await access(path, mode);
    const { type } = await statfs(path);
    return type === PROC_SUPER_MAGIC ? `${path} takes no new files` : null;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const isMissing = code === 'ENOENT' || code === 'ENOTDIR';
    const parent = dirname(path);
    if (isMissing && parent !== path) {
      return explainUncreatable(parent, constants.W_OK | constants.X_OK);
    }
    return MISTAKES.has(code) ? `${path} cannot be written (${code})` : null;
  }
}
