import { statSync } from 'node:fs';
import type { Log } from '../contract/index.js';
import type { HostConfig } from './settings.js';

const ANYTHING_BY_OTHERS = 0o077;
// Group read access is allowed: a host may need a file that another user owns.
const WRITE_BY_OTHERS_OR_READ_BY_ALL = 0o026;

/**
 * Warns if other users may read or change the state folder or the tokens file: they could read secrets or
 * add a token. A missing folder is created for its owner alone.
 */
export function warnOfOpenPermissions(
  { state, tokens }: Pick<HostConfig, 'state' | 'tokens'>,
  log: Log,
) {
  if (isOpen(state, ANYTHING_BY_OTHERS)) {
    log.warn(
      { folder: state },
      'others than its owner may read or change the state folder: chmod 700',
    );
  }
  if (tokens !== null && isOpen(tokens, WRITE_BY_OTHERS_OR_READ_BY_ALL)) {
    log.warn(
      { file: tokens },
      'others than its owner may read or change the tokens file: chmod 600',
    );
  }
}

function isOpen(path: string, bits: number): boolean {
  // Windows has no such bits; Node returns arbitrary ones.
  if (process.platform === 'win32') return false;
  try {
    return (statSync(path).mode & bits) !== 0;
  } catch {
    // A missing or unreadable path is reported when it is used.
    return false;
  }
}
