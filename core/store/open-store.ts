import type { Log } from '../contract/index.js';
import type { StoreKeys } from './encryption-keys.js';
import { parsePostgresUrl } from './postgres-url.js';
import { type OpenDatabase, ReconnectingStore } from './reconnecting-store.js';

interface StoreOptions {
  /** `postgres://…`; `null`: SQLite, in `modgate.db` of `stateDir`. */
  readonly url: string | null;
  readonly stateDir: string;
  /** The keys for sensitive values; `null` stores them in clear. */
  readonly keys: StoreKeys | null;
  readonly log: Log;
}

/**
 * A store that is opened later.
 * @throws ConfigError for an invalid URL.
 */
export function createStore({ url, stateDir, ...options }: StoreOptions): ReconnectingStore {
  return new ReconnectingStore({ ...options, open: createOpener(url, stateDir) });
}

/** Loads kysely and the driver on first use: it takes 120 to 160 ms. @throws ConfigError for an invalid URL. */
export function createOpener(url: string | null, stateDir: string): OpenDatabase {
  if (url === null) {
    return async (onChange) =>
      (await import('./sqlite-database.js')).openSqlite(stateDir, onChange);
  }
  const address = parsePostgresUrl(url);
  return async (onChange, onNotice) =>
    (await import('./postgres-database.js')).openPostgres(address, onChange, onNotice);
}
