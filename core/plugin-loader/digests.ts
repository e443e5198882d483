import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { open, readdir, realpath, stat } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { record, type Struct } from 'superstruct';
import { matching } from '../contract/described.js';
import { digest } from '../descriptor/identifiers.js';
import { describeUnreadable } from '../document/read-file.js';

/** `sha256:` and lower-case hex, by the file's path in the plugin's folder, with `/`. */
export type FileDigests = Readonly<Record<string, string>>;

/** The maximum number of files of a plugin, including its own `node_modules`. */
const MAX_FILES = 20_000;
const MAX_BYTES = 512 * 1024 * 1024;
// O_NONBLOCK: a pipe may have taken the place of the file.
const READ_FLAGS = constants.O_RDONLY | constants.O_NONBLOCK;

export class DigestError extends Error {
  override readonly name = 'DigestError';
}

export function fileDigests(): Struct<Record<string, string>, null> {
  return record(
    matching(
      "a path in the plugin's folder, such as 'lib/index.js'",
      /^(?!\.{0,2}\/)[^\0\\]{1,1024}$/,
    ),
    digest,
  ) as unknown as Struct<Record<string, string>, null>;
}

/**
 * Computes the digest of every file in the folder of a plugin, in order of the paths. Symbolic
 * links are followed within the folder.
 * @throws DigestError for a link that leads outside, too many files, or a file that cannot be read.
 */
export async function digestFiles(folder: string): Promise<FileDigests> {
  const root = await naming(folder, realpath(folder));
  const digests: Record<string, string> = Object.create(null);
  for (const path of (await listFiles(root)).toSorted()) {
    const name = relative(root, path);
    digests[name.replaceAll(sep, '/')] = await naming(name, digestFile(path));
  }
  return digests;
}

async function listFiles(root: string): Promise<string[]> {
  const files: string[] = [];
  let bytes = 0;
  // Each real folder is entered once, because a link to a parent would have no end.
  const entered = new Set<string>();
  const folders = [root];
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    const real = await resolveWithin(root, folder);
    if (entered.has(real)) continue;
    entered.add(real);
    for (const entry of await naming(relative(root, folder), readdir(folder))) {
      const path = join(folder, entry);
      await resolveWithin(root, path);
      const status = await naming(relative(root, path), stat(path));
      if (status.isDirectory()) folders.push(path);
      else if (status.isFile()) {
        files.push(path);
        bytes += status.size;
      }
      // Reading a pipe would never end.
      else throw new DigestError(`'${relative(root, path)}' is not a regular file`);
    }
    if (files.length > MAX_FILES) throw new DigestError(`more than ${MAX_FILES} files`);
    if (bytes > MAX_BYTES) throw new DigestError('more than 512 MiB of files');
  }
  return files;
}

async function resolveWithin(root: string, path: string): Promise<string> {
  const name = relative(root, path);
  const real = await naming(name, realpath(path));
  if (real === root || real.startsWith(root + sep)) return real;
  throw new DigestError(`'${name}' leads outside of its folder`);
}

/** @throws DigestError that names the file or folder when the work fails. */
async function naming<T>(name: string, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (cause) {
    throw new DigestError(`'${name || '.'}' ${describeUnreadable(cause)}`, { cause });
  }
}

async function digestFile(path: string): Promise<string> {
  const hash = createHash('sha256');
  const file = await open(path, READ_FLAGS);
  // Limited to its size, because it may grow meanwhile.
  const { size } = await file.stat();
  await pipeline(file.createReadStream({ end: Math.max(0, size - 1) }), hash);
  return `sha256:${hash.digest('hex')}`;
}
