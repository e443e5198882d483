import { fileURLToPath } from 'node:url';
import type { RunningReference } from './running-reference.js';

const FILE = fileURLToPath(new URL('./local-module.js', import.meta.url));

/** Provides the reference module as a file, for kind `local`. Ignores the module of the suite. */
export async function startLocalReference(): Promise<RunningReference> {
  return {
    config: { file: FILE },
    files: { [FILE]: '' },
    faults: ['malformed'],
    stop: async () => {},
  };
}
