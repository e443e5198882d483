import { readFile, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { DIGEST } from '../../descriptor/identifiers.js';

/** The file beside a folder of descriptors that names the release from which it was created. */
function baseFile(folder: string): string {
  return join(dirname(resolve(folder)), '.modgate-release');
}

/** Returns `null` without such a file. */
export async function readBase(folder: string): Promise<string | null> {
  const text = await readFile(baseFile(folder), 'utf8').catch(() => '');
  return DIGEST.test(text.trim()) ? text.trim() : null;
}

export async function writeBase(folder: string, release: string): Promise<void> {
  await writeFile(baseFile(folder), `${release}\n`);
}
