import type { Kysely, RawBuilder, sql, Transaction } from 'kysely';
import type { AuditedValue } from './audit-row.js';
import type { StoreKeys } from './encryption-keys.js';
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

type Connection = Pick<ReadableDatabase, 'query' | 'close'>;

/** Closes the connection when opening fails half-way. @throws StoreUnavailable */
export async function openOrClose<C extends Connection, T>(
  explain: ReadableDatabase['explain'],
  connect: () => Promise<C>,
  finish: (connection: C) => Promise<T>,
): Promise<T> {
  let connection: C | null = null;
  try {
    connection = await connect();
    return await finish(connection);
  } catch (error) {
    await connection?.close();
    throw explain(error) ?? error;
  }
}

/** An open database with all tables, the same for SQLite and PostgreSQL. */
export interface Database extends ReadableDatabase {
  /** Writes raw SQL. It comes with the database, so that a host loads kysely only when it opens one. */
  readonly sql: typeof sql;
  /** Otherwise SQLite, where a write transaction locks the whole database. */
  readonly isPostgres: boolean;
  /**
   * One write transaction, durable when it resolves; `work` may run again after a conflict with another host. It
   * rejects a store that a newer modgate has changed. All writes use it except for heartbeats, which are frequent.
   */
  transact<T>(work: (trx: Transaction<Tables>) => Promise<T>): Promise<T>;
  /** Notifies other hosts when the transaction commits. */
  announce(trx: Transaction<Tables>, module: string): Promise<void>;
  /** Sends a notice to the other processes; nothing where only processes of one host share the database. */
  sendNotice(notice: string): Promise<void>;
}

/** Computes `value_digest`. @throws StoreUnavailable for a sensitive value while the digest key is unreadable. */
export type DigestAudited = (audited: AuditedValue | null) => Promise<string | null>;

export interface OpenedDatabase extends Database {
  readonly digest: DigestAudited;
}

/** Runs work on the open database. @throws StoreUnavailable while there is none. */
export type UseDatabase<D extends ReadableDatabase = OpenedDatabase> = <T>(
  work: (database: D) => Promise<T>,
) => Promise<T>;

export interface PartContext {
  readonly use: UseDatabase;
  /** The keys for sensitive values; `null` stores them in clear. */
  readonly keys: StoreKeys | null;
  /** Calls the change listeners of this process. */
  notify(module: string | null): void;
}

/** The time of the store, in ISO 8601, some seconds later: of SQLite, the clock of the host. */
export function storeTime(
  { sql, isPostgres }: Pick<Database, 'sql' | 'isPostgres'>,
  seconds = 0,
): RawBuilder<string> {
  if (!isPostgres) return sql<string>`${new Date(Date.now() + seconds * 1000).toISOString()}`;
  return sql<string>`to_char(
    (clock_timestamp() + make_interval(secs => ${seconds})) at time zone 'utc',
    'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'
  )`;
}
