import type { Log } from '../contract/index.js';
import type { StoreKeys } from './encryption-keys.js';
import { parsePostgresUrl } from './postgres-url.js';
import { type OpenDatabase, ReconnectingStore } from './reconnecting-store.js';
import type { Store } from './store.js';

export interface StoreOptions {
  /** `postgres://…`; `null`: SQLite, in `modgate.db` of `stateDir`. */
  readonly url: string | null;
  readonly stateDir: string;
  /** Encrypt sensitive values; `null`: they are stored in clear. */
  readonly keys: StoreKeys | null;
  readonly log: Log;
}

// A start waits so long for a store that is slow, then goes on without it.
const START_TIMEOUT_MS = 3000;

/**
 * Opens the store. One that cannot be opened does not keep the host from starting: its operations throw
 * until it can be.
 * @throws ConfigError for a URL that is none.
 */
export async function openStore(options: StoreOptions): Promise<Store> {
  const store = new ReconnectingStore({ ...options, open: createOpener(options) });
  await store.start(START_TIMEOUT_MS);
  return store;
}

/** Kysely and the drivers are loaded when they are needed: 120 to 160 ms. */
function createOpener({ url, stateDir }: StoreOptions): OpenDatabase {
  if (url === null) {
    return async (onChange) =>
      (await import('./sqlite-database.js')).openSqlite(stateDir, onChange);
  }
  const address = parsePostgresUrl(url);
  return async (onChange) =>
    (await import('./postgres-database.js')).openPostgres(address, onChange);
}
