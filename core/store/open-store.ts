import type { Log } from '../contract/index.js';
import type { StoreKeys } from './encryption-keys.js';
import { parsePostgresUrl } from './postgres-url.js';
import { type OpenDatabase, ReconnectingStore } from './reconnecting-store.js';
import type { Store } from './store.js';

interface StoreOptions {
  /** `postgres://…`; `null`: SQLite, in `modgate.db` of `stateDir`. */
  readonly url: string | null;
  readonly stateDir: string;
  /** For sensitive values; `null`: they are stored in clear. */
  readonly keys: StoreKeys | null;
  readonly log: Log;
}

// The start waits this long for a slow store, then continues without it.
const START_TIMEOUT_MS = 3000;

/**
 * Opens the store. A store that cannot be opened does not prevent the start: its operations throw until it
 * is open.
 * @throws ConfigError for an invalid URL.
 */
export async function openStore(options: StoreOptions): Promise<Store> {
  const store = new ReconnectingStore({
    ...options,
    open: createOpener(options.url, options.stateDir),
  });
  await store.start(START_TIMEOUT_MS);
  return store;
}

/** Loads kysely and the driver on first use: it takes 120 to 160 ms. @throws ConfigError for an invalid URL. */
export function createOpener(url: string | null, stateDir: string): OpenDatabase {
  if (url === null) {
    return async (onChange) =>
      (await import('./sqlite-database.js')).openSqlite(stateDir, onChange);
  }
  const address = parsePostgresUrl(url);
  return async (onChange) =>
    (await import('./postgres-database.js')).openPostgres(address, onChange);
}
