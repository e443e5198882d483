import { open, realpath, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { isSeq, parseDocument } from 'yaml';
import { parseTokenFile, type TokenFileEntry } from '../../auth/token-file.js';
import { detectFormat } from '../../document/parse-document.js';
import { FileError, readTextFile } from '../../document/read-file.js';
import { ConfigError } from '../../errors.js';

const NEW_FILE_MODE = 0o600;
const PERMISSION_BITS = 0o777;
/** How long to wait for another edit. Milliseconds. */
const LOCK_TIMEOUT_MS = 5000;
const LOCK_POLL_MS = 20;

/**
 * Reads the entries of the tokens file.
 * @throws ConfigError for a file that is missing or invalid.
 */
export async function listTokens(file: string): Promise<readonly TokenFileEntry[]> {
  const text = await readValidated(file);
  if (text === null) throw new ConfigError(`${file} does not exist`);
  return readTokenText(file, text).entries;
}

/**
 * Changes the tokens file, or creates it. Edits are serialized by a lock and applied by a rename, so that a
 * host never reads a partial file. Keeps symbolic links and the mode of an existing file.
 * @param change returns the new text, or `null` to leave the file unchanged
 * @throws ConfigError for a file that is invalid, locked or not writable; it is then unchanged.
 */
export async function editTokenFile(
  link: string,
  change: (text: TokenText) => string | null,
): Promise<void> {
  const file = await realpath(link).catch(() => link);
  await withLock(file, async () => {
    const text = change(readTokenText(file, await readValidated(file)));
    if (text === null) return;
    parseTokenFile(file, text);
    await replaceFile(file, text);
  });
}

/** Returns `null` for a missing file. */
async function readValidated(file: string): Promise<string | null> {
  try {
    const text = await readTextFile(file);
    parseTokenFile(file, text);
    return text;
  } catch (error) {
    if (!(error instanceof FileError)) throw error;
    if (error.code === 'file-missing') return null;
    throw new ConfigError(`${file} ${error.message}`, { cause: error });
  }
}

async function withLock(file: string, work: () => Promise<void>): Promise<void> {
  const lock = `${file}.lock`;
  const deadline = performance.now() + LOCK_TIMEOUT_MS;
  while (!(await acquireLock(lock))) {
    if (performance.now() > deadline) {
      throw new ConfigError(
        `${lock} is held by another 'modgate token': remove it if none is running`,
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

async function acquireLock(lock: string): Promise<boolean> {
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
    // Removes a file that an earlier process has left behind.
    await rm(beside, { force: true });
    const handle = await open(beside, 'wx', NEW_FILE_MODE);
    try {
      await handle.writeFile(text);
      if (before !== null) await handle.chmod(before.mode & PERMISSION_BITS);
      // Preserves the owner, so that a host of another user can still read the file.
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

type TokenText = ReturnType<typeof readTokenText>;

/**
 * Edits the text of a valid tokens file. Keeps the comments of YAML.
 * @param text `null` for a new file
 */
function readTokenText(file: string, text: string | null) {
  const isJson = detectFormat(file, text ?? '') === 'json';
  const document = parseDocument(text ?? 'tokens: []\n');
  const tokens = document.get('tokens');
  if (!isSeq(tokens)) throw new Error('a valid tokens file has a list of tokens');
  const entries = document.toJS().tokens as readonly TokenFileEntry[];
  const format = () => (isJson ? `${JSON.stringify(document, null, 2)}\n` : String(document));
  return {
    entries,
    add: (entry: TokenFileEntry) => {
      tokens.flow = false;
      tokens.add(document.createNode(entry));
      return format();
    },
    remove: (sha256s: ReadonlySet<string>) => {
      tokens.items = tokens.items.filter((_, index) => !sha256s.has(entries[index]?.sha256 ?? ''));
      return format();
    },
  };
}
