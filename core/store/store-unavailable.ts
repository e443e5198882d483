const REASONS = {
  opening: 'the store is not open yet',
  closed: 'the store is closed',
  busy: 'too many operations wait for the store',
  missing: 'there is no store: set --state or --store as for the host',
  locked: 'the store is locked by another process',
  read_only: 'the store is read-only',
  read_only_server: 'the database server is read-only: --store must lead to the primary',
  full: 'the disk of the store is full',
  cannot_open: 'the store file cannot be opened',
  moved: 'the store file was moved, replaced or deleted while it was open',
  damaged: 'the store is damaged or was not created by modgate',
  inconsistent: 'the tables of the store are inconsistent: run modgate audit --verify',
  disk_failed: 'the disk of the store failed',
  older_schema: 'the store was written by an earlier modgate',
  newer_schema: 'the store was written by a newer modgate',
  unreachable: 'the database server does not respond',
  denied: 'the database server denies access: check the user, the database and its permissions',
  unknown_key: 'a value is encrypted with an unknown key',
  not_encrypted: 'a sensitive value is not encrypted: run modgate encrypt-store',
  unreadable: 'a value does not decrypt',
  failed: 'the store failed',
} as const;

export type StoreErrorCode = keyof typeof REASONS;

interface StoreErrorDetails extends ErrorOptions {
  /**
   * The code of SQLite, PostgreSQL or the operating system: `SQLITE_BUSY`, `57P03`, `ECONNREFUSED`.
   */
  readonly nativeCode?: string | undefined;
  /** Replaces the message that belongs to the code. */
  readonly message?: string | undefined;
}

/**
 * The store is unavailable; an unacknowledged write may or may not have been stored. The message is for
 * logs and status: lower case, without values, paths, addresses or user names.
 */
export class StoreUnavailable extends Error {
  override readonly name = 'StoreUnavailable';
  readonly code: StoreErrorCode;

  constructor(code: StoreErrorCode, { nativeCode, message, ...options }: StoreErrorDetails = {}) {
    super(
      `${message ?? REASONS[code]}${nativeCode === undefined ? '' : ` (${nativeCode})`}`,
      options,
    );
    this.code = code;
  }
}

/** The fields of a log line about a failure. A known state of the store needs no stack. */
export function describeStoreFailure(error: unknown): Readonly<Record<string, unknown>> {
  if (!(error instanceof StoreUnavailable)) return { err: error };
  return { code: error.code, reason: error.message };
}
