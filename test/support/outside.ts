import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';

// From dist/test/support: the repository's root, and the folder beside it.
const REPOSITORY = fileURLToPath(new URL('../../../', import.meta.url));
const FOLDER = process.env['MODGATE_OUTSIDE'] ?? join(REPOSITORY, '../shared/outside');

/**
 * The data of a public test suite, which is not part of the repository; `null` if it is not in
 * `MODGATE_OUTSIDE` or `../shared/outside`.
 */
export function readOutside<T>(file: string): T | null {
  const text = readOutsideText(file);
  return text === null ? null : (JSON.parse(text) as T);
}

/** The text of a compressed file of public test data; `null` if it is absent. */
export function readOutsideText(file: string): string | null {
  const path = findOutside(file);
  return path === null ? null : gunzipSync(readFileSync(path)).toString();
}

/** The path of a file of public test data; `null` if it is absent. */
export function findOutside(file: string): string | null {
  const path = join(FOLDER, file);
  return existsSync(path) ? path : null;
}
