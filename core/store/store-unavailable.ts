const REASONS = {
  opening: 'the store is not open yet',
  closed: 'the store is closed',
  missing: 'there is no store there: give the --state or --store of the host',
  locked: 'the store is locked by another process',
  read_only: 'the store is read-only',
  full: 'the disk of the store is full',
  cannot_open: 'the file of the store cannot be opened',
  moved: 'the file of the store was moved, replaced or deleted while it was open',
  damaged: 'the store is damaged, or is not a store of modgate',
  inconsistent: 'the tables of the store contradict each other: see modgate audit --verify',
  disk_failed: 'the disk of the store failed',
  newer_schema: 'the store was written by a newer modgate',
  unreachable: 'the database server does not answer',
  refused: 'the database server refuses the user, the database or a permission',
  unknown_key: 'a value is encrypted with a key that is not given',
  unreadable: 'a value does not decrypt',
  failed: 'the store failed',
} as const;

export type StoreFault = keyof typeof REASONS;

export interface StoreFaultDetails extends ErrorOptions {
  /** Of SQLite, PostgreSQL or the operating system: `SQLITE_BUSY`, `57P03`, `ECONNREFUSED`. */
  readonly code?: string | undefined;
  /** Instead of the reason that belongs to the fault. */
  readonly message?: string;
}

/**
 * The store cannot answer now; what was not acknowledged may or may not have been written. The message is
 * for logs and status: lower case, and without a value, path, address or name of a user.
 */
export class StoreUnavailable extends Error {
  override readonly name = 'StoreUnavailable';
  readonly fault: StoreFault;

  constructor(fault: StoreFault, { code, message, ...options }: StoreFaultDetails = {}) {
    super(`${message ?? REASONS[fault]}${code === undefined ? '' : ` (${code})`}`, options);
    this.fault = fault;
  }
}
