import { randomUUID } from 'node:crypto';
import { link, lstat, rename, rm, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { array, integer, string, type } from 'superstruct';
import { FileError, readHostFile } from '../document/read-file.js';
import { createFolder } from '../lib/create-folder.js';
import { readPrivateKey, type StoredKey } from './identity-key.js';

const FILE = type({
  keys: array(
    type({
      kid: string(),
      created_at: integer(),
      jwk: type({ kty: string(), crv: string(), x: string(), d: string() }),
    }),
  ),
});

const OTHERS_MAY_READ = 0o077;

interface KeyFile {
  readonly keys: readonly StoredKey[];
  /** Whether users other than the owner may read the keys. */
  readonly isExposed: boolean;
}

/**
 * `null` when there is no file yet.
 * @throws Error without any of its content.
 */
export async function readKeyFile(path: string): Promise<KeyFile | null> {
  const bytes = await readHostFile(path).catch((error: unknown) => {
    if (error instanceof FileError && error.code === 'file-missing') return null;
    throw error;
  });
  if (bytes === null) return null;
  const keys = parseKeys(bytes.toString());
  if (keys === null) throw new Error('the file of identity keys is damaged');
  const { mode } = await lstat(path);
  return { keys, isExposed: (mode & OTHERS_MAY_READ) !== 0 };
}

function parseKeys(text: string): StoredKey[] | null {
  try {
    const value: unknown = JSON.parse(text);
    if (!FILE.is(value)) return null;
    const keys = value.keys.map(({ kid, created_at: createdAt, jwk }) => ({ kid, createdAt, jwk }));
    for (const key of keys) readPrivateKey(key);
    return keys;
  } catch {
    return null;
  }
}

/**
 * Replaces the file atomically; only its owner can read it.
 * @param isFirst does not replace a file that was created meanwhile
 * @returns the keys in the file
 */
export async function writeKeyFile(
  path: string,
  keys: readonly StoredKey[],
  isFirst: boolean,
): Promise<readonly StoredKey[]> {
  const folder = dirname(path);
  await createFolder(folder, 0o700);
  // It may be a link to a folder, and the keys would be written there.
  if (!(await lstat(folder)).isDirectory()) throw new Error(`${folder} is not a folder`);
  const wire = keys.map(({ kid, createdAt, jwk }) => ({ kid, created_at: createdAt, jwk }));
  const temporary = `${path}.${randomUUID()}.new`;
  await writeFile(temporary, `${JSON.stringify({ keys: wire })}\n`, { mode: 0o600, flag: 'wx' });
  if (!isFirst) {
    await rename(temporary, path);
    return keys;
  }
  const isTaken = await link(temporary, path).then(
    () => false,
    () => true,
  );
  await rm(temporary, { force: true });
  return (isTaken ? (await readKeyFile(path))?.keys : undefined) ?? keys;
}
