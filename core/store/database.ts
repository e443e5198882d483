import type { Kysely, Transaction } from 'kysely';
import type { StoreUnavailable } from './store-unavailable.js';
import type { Tables } from './tables.js';

/** A module of which a value was written; `null`: any may have been. May come more often than needed. */
export type ChangeListener = (module: string | null) => void;

/** What reading needs: also of a store that another process owns. */
export interface ReadableDatabase {
  readonly query: Kysely<Tables>;
  /** What an error says of the store; `null` for an error that is a fault of modgate. */
  explain(error: unknown): StoreUnavailable | null;
  /** Ends connections and timers. Never throws. */
  close(): Promise<void>;
}

/** An open database with all tables, the same for SQLite and PostgreSQL. */
export interface Database extends ReadableDatabase {
  /** False where a write transaction has the whole database to itself. */
  readonly locksRows: boolean;
  /** One write transaction, durable when it resolves; `work` may run again when another host was in the way. */
  transact<T>(work: (trx: Transaction<Tables>) => Promise<T>): Promise<T>;
  /** Tells other hosts once the transaction commits. */
  announce(trx: Transaction<Tables>, module: string): Promise<void>;
}
