import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { MAIN } from '../main-file.js';

/** Puts the `modgate` under test first in PATH, also for `npx modgate`. @returns undoes it */
export function installModgate(folder: string): () => void {
  mkdirSync(folder);
  const write = (name: string, script: string) => {
    writeFileSync(join(folder, name), `#!/bin/sh\n${script}\n`);
    chmodSync(join(folder, name), 0o755);
  };
  const modgate = `exec '${process.execPath}' '${MAIN}'`;
  write('modgate', `${modgate} "$@"`);
  const others = `PATH="\${PATH#*:}" exec npx "$@"`;
  write('npx', `if [ "$1" = modgate ]; then shift; ${modgate} "$@"; fi\n${others}`);
  const { PATH = '' } = process.env;
  process.env['PATH'] = `${folder}${delimiter}${PATH}`;
  return () => {
    process.env['PATH'] = PATH;
  };
}
