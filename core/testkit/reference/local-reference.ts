import { fileURLToPath } from 'node:url';
import type { RunningReference } from './running-reference.js';

const FILE = fileURLToPath(new URL('./local-module.js', import.meta.url));

/** Names the reference module as a file, for kind `local`. What the suite hands in is not used. */
export async function startLocalReference(): Promise<RunningReference> {
  return {
    config: { file: FILE },
    files: { [FILE]: '' },
    faults: ['malformed'],
    stop: async () => {},
  };
}
