import { type StoreFault, StoreUnavailable } from './store-unavailable.js';

/** By primary result code (https://www.sqlite.org/rescode.html). */
const RESULTS: Readonly<Record<number, { readonly code: string; readonly fault: StoreFault }>> = {
  // A table is missing, or there too early: the queries themselves are fixed.
  1: { code: 'SQLITE_ERROR', fault: 'damaged' },
  3: { code: 'SQLITE_PERM', fault: 'cannot_open' },
  5: { code: 'SQLITE_BUSY', fault: 'locked' },
  6: { code: 'SQLITE_LOCKED', fault: 'locked' },
  8: { code: 'SQLITE_READONLY', fault: 'read_only' },
  10: { code: 'SQLITE_IOERR', fault: 'disk_failed' },
  11: { code: 'SQLITE_CORRUPT', fault: 'damaged' },
  13: { code: 'SQLITE_FULL', fault: 'full' },
  14: { code: 'SQLITE_CANTOPEN', fault: 'cannot_open' },
  19: { code: 'SQLITE_CONSTRAINT', fault: 'inconsistent' },
  23: { code: 'SQLITE_AUTH', fault: 'cannot_open' },
  26: { code: 'SQLITE_NOTADB', fault: 'damaged' },
};

const BUSY = 5;
/** An extended result code has the primary one in its lowest byte. */
const PRIMARY = 0xff;

/** Of the file system, while the file is made. */
const FILE_FAULTS: Readonly<Record<string, StoreFault>> = {
  EROFS: 'read_only',
  ENOSPC: 'full',
  EDQUOT: 'full',
  EIO: 'disk_failed',
  EACCES: 'cannot_open',
  EPERM: 'cannot_open',
  ENOTDIR: 'cannot_open',
  EISDIR: 'cannot_open',
  EEXIST: 'cannot_open',
  ENOENT: 'cannot_open',
  ELOOP: 'cannot_open',
  EMFILE: 'cannot_open',
  ENFILE: 'cannot_open',
};

/** libsql 0.5 gives an error of the open call as text, with the result code at its end. */
const OPEN_FAILED = /^ConnectionFailed\(.*: (\d+)"\)$/s;

export function isSqliteBusy(error: unknown): boolean {
  return findResult(error) === BUSY;
}

/** `null` for an error that is a fault of modgate. Messages of libsql may name paths, so most are not kept. */
export function explainSqliteError(error: unknown): StoreUnavailable | null {
  if (error instanceof StoreUnavailable) return error;
  const result = RESULTS[findResult(error)];
  if (result === undefined) return explainFileError(error);
  const { code, fault } = result;
  // What is damaged is told by the name of a table at most.
  return new StoreUnavailable(fault, fault === 'damaged' ? { code, cause: error } : { code });
}

function explainFileError(error: unknown): StoreUnavailable | null {
  const { code } = Object(error) as { code?: unknown };
  const fault = typeof code === 'string' ? FILE_FAULTS[code] : undefined;
  return fault === undefined ? null : new StoreUnavailable(fault, { code: String(code) });
}

/** The primary result code; 0 for an error that is not SQLite's. */
function findResult(error: unknown): number {
  if (!(error instanceof Error)) return 0;
  const { rawCode } = error as { rawCode?: unknown };
  if (typeof rawCode === 'number') return rawCode & PRIMARY;
  return Number(OPEN_FAILED.exec(error.message)?.[1] ?? 0) & PRIMARY;
}
