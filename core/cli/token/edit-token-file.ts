import { open, realpath, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { parseTokenFile } from '../../auth/token-file.js';
import { assertValidFile } from '../../document/parse-file.js';
import { FileError, readTextFile } from '../../document/read-file.js';
import { ConfigError } from '../../errors.js';
import { readTokenText, type TokenText } from './token-text.js';

const NEW_FILE_MODE = 0o600;
const PERMISSION_BITS = 0o777;
/** How long another edit may take. Milliseconds. */
const LOCK_TIMEOUT_MS = 5000;
const LOCK_POLL_MS = 20;

/**
 * Reads the tokens file as a host would; a file that is not there has no tokens.
 * @throws ConfigError for one that a host would refuse.
 */
export async function readTokenFile(file: string): Promise<TokenText> {
  return readTokenText(file, await readValidated(file));
}

/**
 * Changes the tokens file: one edit at a time, written beside and renamed, so that a host sees the one
 * before or this one. A link stays a link; the mode of a file that is there stays its own.
 * @param change the new text, or `null` to leave it as it is
 * @throws ConfigError when the file is bad, locked or cannot be written; it is then as it was.
 */
export async function editTokenFile(
  link: string,
  change: (text: TokenText) => string | null,
): Promise<void> {
  const file = await realpath(link).catch(() => link);
  await withLock(file, async () => {
    const text = change(await readTokenFile(file));
    if (text === null) return;
    parseTokenFile(file, text);
    await replaceFile(file, text);
  });
}

async function readValidated(file: string): Promise<string | null> {
  try {
    const text = await readTextFile(file);
    parseTokenFile(file, text);
    return text;
  } catch (error) {
    if (!(error instanceof FileError)) throw assertValidFile(error);
    if (error.code === 'file-missing') return null;
    throw new ConfigError(`${file} ${error.message}`, { cause: error });
  }
}

async function withLock(file: string, work: () => Promise<void>): Promise<void> {
  const lock = `${file}.lock`;
  const deadline = performance.now() + LOCK_TIMEOUT_MS;
  while (!(await takeLock(lock))) {
    if (performance.now() > deadline) {
      throw new ConfigError(
        `${lock} is held by another 'modgate token': if there is none, remove that file`,
      );
    }
    await pause(LOCK_POLL_MS);
  }
  try {
    await work();
  } finally {
    await rm(lock, { force: true });
  }
}

async function takeLock(lock: string): Promise<boolean> {
  try {
    await (await open(lock, 'wx', NEW_FILE_MODE)).close();
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw createWriteError(lock, error);
  }
}

async function replaceFile(file: string, text: string): Promise<void> {
  const beside = join(dirname(file), `.${basename(file)}.${process.pid}.new`);
  try {
    const before = await stat(file).catch(() => null);
    const handle = await open(beside, 'w', NEW_FILE_MODE);
    try {
      await handle.writeFile(text);
      if (before !== null) await handle.chmod(before.mode & PERMISSION_BITS);
      // A host under another user must be able to go on reading it; only root can see to that.
      if (before !== null) await handle.chown(before.uid, before.gid).catch(() => {});
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(beside, file);
  } catch (error) {
    await rm(beside, { force: true });
    throw createWriteError(file, error);
  }
}

function createWriteError(file: string, error: unknown): ConfigError {
  const { code = '' } = error as NodeJS.ErrnoException;
  return new ConfigError(`${file} cannot be written${code === '' ? '' : ` (${code})`}`, {
    cause: error,
  });
}
