import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { readdir, realpath, stat } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { record, type Struct } from 'superstruct';
import { digest } from '../descriptor/identifiers.js';
import { matching } from '../document/structs.js';

/** By the path of the file in the plugin's folder, with `/`: `sha256:` and lower-case hex. */
export type FileDigests = Readonly<Record<string, string>>;

/** Files of one plugin, those of its own `node_modules` among them. */
const MAX_FILES = 20_000;

/** Why the files of a plugin have no digests. */
export class DigestError extends Error {
  override readonly name = 'UndigestedPlugin';
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
 * The digest of every file in the folder of a plugin, by path, in order of the paths. Symbolic links are
 * followed as long as they stay in the folder.
 * @throws UndigestedPlugin for a link that leads outside, too many files, or one that cannot be read.
 */
export async function digestFiles(folder: string): Promise<FileDigests> {
  const root = await realpath(folder);
  const digests: Record<string, string> = Object.create(null);
  for (const path of (await listFiles(root)).toSorted()) {
    digests[relative(root, path).replaceAll(sep, '/')] = await digestFile(path);
  }
  return digests;
}

async function listFiles(root: string): Promise<string[]> {
  const files: string[] = [];
  // A link to a folder above would have no end: each real folder is entered once.
  const entered = new Set<string>();
  const folders = [root];
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    const real = await resolveWithin(root, folder);
    if (entered.has(real)) continue;
    entered.add(real);
    for (const entry of await readdir(folder)) {
      const path = join(folder, entry);
      await resolveWithin(root, path);
      const status = await stat(path);
      if (status.isDirectory()) folders.push(path);
      else if (status.isFile()) files.push(path);
      // Reading a pipe would never end.
      else throw new DigestError(`'${relative(root, path)}' is not a regular file`);
    }
    if (files.length > MAX_FILES) throw new DigestError(`it has more than ${MAX_FILES} files`);
  }
  return files;
}

async function resolveWithin(root: string, path: string): Promise<string> {
  const real = await realpath(path).catch((cause) => {
    throw new DigestError(`'${relative(root, path)}' cannot be read`, { cause });
  });
  if (real === root || real.startsWith(root + sep)) return real;
  throw new DigestError(`'${relative(root, path)}' leads outside of its folder`);
}

async function digestFile(path: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(path), hash);
  return `sha256:${hash.digest('hex')}`;
}
