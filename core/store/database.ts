import type { Kysely, sql, Transaction } from 'kysely';
import type { AuditedValue } from './audit-row.js';
import type { StoreUnavailable } from './store-unavailable.js';
import type { Tables } from './tables.js';

/** Called with the module whose value was written; `null`: any module. May be called without a change. */
export type ChangeListener = (module: string | null) => void;

/** The value that change listeners get when the releases have changed. No module has this name. */
export const RELEASE_CHANGE = ':releases';

/** Called with what another process has sent; `null`: some may have been lost. */
export type NoticeListener = (notice: string | null) => void;

/** Enough for reading a store that another process writes to. */
export interface ReadableDatabase {
  readonly query: Kysely<Tables>;
  /** The state of the store behind an error; `null` for a bug of modgate. */
  explain(error: unknown): StoreUnavailable | null;
  /** Closes connections and timers. Never throws. */
  close(): Promise<void>;
}

/** An open database with all tables, the same for SQLite and PostgreSQL. */
export interface Database extends ReadableDatabase {
  /** Writes raw SQL. It comes with the database, so that a host loads kysely only when it opens one. */
  readonly sql: typeof sql;
  /** False where a write transaction locks the whole database. */
  readonly locksRows: boolean;
  /** One write transaction, durable when it resolves; `work` may run again after a conflict with another host. */
  transact<T>(work: (trx: Transaction<Tables>) => Promise<T>): Promise<T>;
  /** Notifies other hosts when the transaction commits. */
  announce(trx: Transaction<Tables>, module: string): Promise<void>;
  /** Sends a notice to the other processes; nothing where only processes of one host share the database. */
  sendNotice(notice: string): Promise<void>;
}

/** Computes `value_digest`. @throws StoreUnavailable for a sensitive value while the digest key is unreadable. */
export type DigestAudited = (audited: AuditedValue | null) => Promise<string | null>;

/** The database of a store. */
export interface OpenedDatabase extends Database {
  readonly digest: DigestAudited;
}

/** Runs work on the open database. @throws StoreUnavailable while there is none. */
export type UseDatabase<D extends Database = OpenedDatabase> = <T>(
  work: (database: D) => Promise<T>,
) => Promise<T>;
