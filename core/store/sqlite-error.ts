import { statfsSync } from 'node:fs';
import { type StoreErrorCode, StoreUnavailable } from './store-unavailable.js';

/** Keyed by primary result code (https://www.sqlite.org/rescode.html). */
const RESULTS: Readonly<Record<number, readonly [nativeCode: string, code: StoreErrorCode]>> = {
  // A table is missing or exists too early: the queries themselves are fixed.
  1: ['SQLITE_ERROR', 'damaged'],
  3: ['SQLITE_PERM', 'cannot_open'],
  5: ['SQLITE_BUSY', 'locked'],
  6: ['SQLITE_LOCKED', 'locked'],
  8: ['SQLITE_READONLY', 'read_only'],
  10: ['SQLITE_IOERR', 'disk_failed'],
  11: ['SQLITE_CORRUPT', 'damaged'],
  13: ['SQLITE_FULL', 'full'],
  14: ['SQLITE_CANTOPEN', 'cannot_open'],
  19: ['SQLITE_CONSTRAINT', 'inconsistent'],
  23: ['SQLITE_AUTH', 'cannot_open'],
  26: ['SQLITE_NOTADB', 'damaged'],
};

const BUSY = 5;
/** An extended result code has the primary one in its lowest byte. */
const PRIMARY = 0xff;

/** Errors of the file system when the file is created. */
const FILE_ERRORS: Readonly<Record<string, StoreErrorCode>> = {
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

/** libsql 0.5 reports an error of the open call as text that ends with the result code. */
const OPEN_FAILED = /^ConnectionFailed\(.*: (\d+)"\)$/s;

export function isSqliteBusy(error: unknown): boolean {
  return findResult(error) === BUSY;
}

/** `null` for a bug of modgate. Messages of libsql may name paths, so most are dropped. */
export function explainSqliteError(error: unknown): StoreUnavailable | null {
  if (error instanceof StoreUnavailable) return error;
  const result = RESULTS[findResult(error)];
  if (result === undefined) return explainFileError(error);
  const [nativeCode, code] = result;
  // For a damaged store the message names a table at most.
  return new StoreUnavailable(
    code,
    code === 'damaged' ? { nativeCode, cause: error } : { nativeCode },
  );
}

/** SQLite needs this much to extend the files beside the database. Bytes. */
const MIN_FREE = 65_536;

/** The same for the database in a folder: a write that fails there on a full disk is often an I/O error. */
export function explainSqliteErrorIn(folder: string, error: unknown): StoreUnavailable | null {
  const explained = explainSqliteError(error);
  if (explained?.code !== 'disk_failed' || !isFull(folder)) return explained;
  return new StoreUnavailable('full', { cause: explained });
}

function isFull(folder: string): boolean {
  try {
    const { bavail, bsize } = statfsSync(folder);
    return bavail * bsize < MIN_FREE;
  } catch {
    return false;
  }
}

function explainFileError(error: unknown): StoreUnavailable | null {
  const { code: nativeCode } = Object(error) as { code?: unknown };
  if (typeof nativeCode !== 'string') return null;
  const code = FILE_ERRORS[nativeCode];
  return code === undefined ? null : new StoreUnavailable(code, { nativeCode });
}

/** The primary result code; 0 for an error that is not SQLite's. */
function findResult(error: unknown): number {
  if (!(error instanceof Error)) return 0;
  const { rawCode } = error as { rawCode?: unknown };
  if (typeof rawCode === 'number') return rawCode & PRIMARY;
  return Number(OPEN_FAILED.exec(error.message)?.[1] ?? 0) & PRIMARY;
}
