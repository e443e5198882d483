import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ConfigError } from '../errors.js';
import { PLUGIN_FILE } from './plugin-manifest.js';

const execute = promisify(execFile);
const MAX_OUTPUT_BYTES = 16 * 1_048_576;
const MEMBER = /,\s*"digests"\s*:\s*\{[^{}]*\}/;

/** Writes the digests of the files that npm packs into `plugin.json`, in place of earlier ones. */
export async function writeOwnDigests(folder: string): Promise<void> {
  const digests: Record<string, string> = {};
  for (const path of (await listPackedFiles(folder)).toSorted()) {
    // A `plugin.json` cannot contain its own digest.
    if (path === PLUGIN_FILE) continue;
    const hash = createHash('sha256').update(await readFile(join(folder, path)));
    digests[path] = `sha256:${hash.digest('hex')}`;
  }
  const text = JSON.stringify(digests, null, 2).replaceAll('\n', '\n  ');
  await replaceMember(folder, `,\n  "digests": ${text}`);
}

/** Removes the digests from `plugin.json`: they do not hold after the next build. */
export async function removeOwnDigests(folder: string): Promise<void> {
  await replaceMember(folder, '');
}

/** Changes nothing else of the text. */
async function replaceMember(folder: string, member: string): Promise<void> {
  const path = join(folder, PLUGIN_FILE);
  const text = (await readFile(path, 'utf8')).replace(MEMBER, '');
  const written = text.replace(/\s*\}\s*$/, `${member}\n}\n`);
  try {
    JSON.parse(written);
  } catch (cause) {
    throw new ConfigError(`${path} cannot be changed: it must be an object of JSON`, { cause });
  }
  await writeFile(path, written);
}

/** Runs no scripts: it is called by one. */
async function listPackedFiles(folder: string): Promise<readonly string[]> {
  const args = ['pack', '--dry-run', '--json', '--ignore-scripts'];
  try {
    const options = { cwd: folder, maxBuffer: MAX_OUTPUT_BYTES };
    const { stdout } = await execute('npm', args, options);
    const [{ files }] = JSON.parse(stdout) as [{ files: readonly { path: string }[] }];
    return files.map(({ path }) => path);
  } catch (cause) {
    throw new ConfigError(`npm cannot list the files of ${folder}: run npm pack there`, { cause });
  }
}
