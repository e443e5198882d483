import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const MAIN = fileURLToPath(new URL('../../../core/main.js', import.meta.url));

/** Puts the `modgate` under test first in PATH. @returns undoes it */
export function installModgate(folder: string): () => void {
  mkdirSync(folder);
  const file = join(folder, 'modgate');
  writeFileSync(file, `#!/bin/sh\nexec '${process.execPath}' '${MAIN}' "$@"\n`);
  chmodSync(file, 0o755);
  const { PATH = '' } = process.env;
  process.env['PATH'] = `${folder}${delimiter}${PATH}`;
  return () => {
    process.env['PATH'] = PATH;
  };
}
