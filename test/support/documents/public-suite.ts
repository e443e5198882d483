import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';

// From dist/test/support/documents.
const BESIDE_REPOSITORY = fileURLToPath(new URL('../../../../../shared/outside', import.meta.url));

/**
 * The cases of a public test suite, `null` where its data is absent: in the folder of MODGATE_OUTSIDE, by
 * default ../shared/outside of the repository.
 */
export function readPublicSuite<T>(name: string): readonly T[] | null {
  const file = join(process.env['MODGATE_OUTSIDE'] ?? BESIDE_REPOSITORY, `${name}.json.gz`);
  if (!existsSync(file)) return null;
  return JSON.parse(gunzipSync(readFileSync(file)).toString()) as readonly T[];
}
