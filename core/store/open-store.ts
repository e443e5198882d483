import type { Log } from '../contract/index.js';
import { type AuditReader, createAuditReader } from './audit-log.js';
import type { ReadableDatabase, UseDatabase } from './database.js';
import type { StoreKeys } from './encryption-keys.js';
import { createParts, type StoreParts } from './parts.js';
import { parsePostgresUrl } from './postgres-url.js';
import { encryptStore } from './reencrypt.js';
import { createReleaseReader } from './releases/release-store.js';
import {
  type OpenDatabase,
  StoreConnection,
  type StoreConnectionOptions,
} from './store-connection.js';

interface StoreOptions {
  /** `postgres://…`; `null`: SQLite, in `modgate.db` of `stateDir`. */
  readonly url: string | null;
  readonly stateDir: string;
  /** Whether the process is one of several of its host: each has one connection to PostgreSQL. Default: false. */
  readonly isWorker?: boolean;
  /** The keys for sensitive values; `null` stores them in clear. */
  readonly keys: StoreKeys | null;
  readonly log: Log;
}

/**
 * A store that is opened later.
 * @throws ConfigError for an invalid URL.
 */
export function createStore({ url, stateDir, isWorker = false, ...options }: StoreOptions) {
  return connectStore({ ...options, open: createOpener(url, stateDir, isWorker) });
}

/** A store over databases that `open` opens. */
export function connectStore(options: StoreConnectionOptions): StoreConnection & StoreParts {
  const connection = new StoreConnection(options);
  return Object.assign(connection, createParts(connection));
}

/** Loads kysely and the driver on first use: it takes 120 to 160 ms. @throws ConfigError for an invalid URL. */
export function createOpener(
  url: string | null,
  stateDir: string,
  hasOneConnection = false,
): OpenDatabase {
  if (url === null) {
    return async (onChange) =>
      (await import('./sqlite-database.js')).openSqlite(stateDir, onChange);
  }
  const address = parsePostgresUrl(url);
  return async (onChange, onNotice) => {
    const { openPostgres } = await import('./postgres-database.js');
    return openPostgres(address, { onChange, onNotice, hasOneConnection });
  };
}

/**
 * Encrypts the sensitive values of a store that was written without a key.
 * @returns how many
 * @throws StoreUnavailable when there is no store, or it cannot be opened.
 */
export async function encryptClearValues(
  url: string | null,
  stateDir: string,
  keys: StoreKeys,
  log: Log,
): Promise<number> {
  // Opening creates a store where there is none; a reader does not.
  await (await openAuditReader(url, stateDir)).close();
  const database = await createOpener(url, stateDir)(
    () => {},
    () => {},
  );
  try {
    return await encryptStore(database, keys, log);
  } catch (error) {
    throw database.explain(error) ?? error;
  } finally {
    await database.close();
  }
}

interface OpenedReader {
  close(): Promise<void>;
}

export type OpenedAudit = AuditReader & OpenedReader;

/**
 * Reads the audit of a store that a host may be using: nothing is written, no key is required.
 * @throws StoreUnavailable when there is no store or it cannot be read.
 * @throws ConfigError for an invalid URL.
 */
export async function openAuditReader(url: string | null, stateDir: string): Promise<OpenedAudit> {
  return openReader(url, stateDir, createAuditReader);
}

/** The same for releases. @throws StoreUnavailable, ConfigError. */
export function openReleaseReader(url: string | null, stateDir: string) {
  return openReader(url, stateDir, createReleaseReader);
}

async function openReader<Reader extends object>(
  url: string | null,
  stateDir: string,
  createReader: (use: UseDatabase<ReadableDatabase>) => Reader,
): Promise<Reader & OpenedReader> {
  const database = await openToRead(url, stateDir);
  const reader = createReader(async (work) => {
    try {
      return await work(database);
    } catch (error) {
      throw database.explain(error) ?? error;
    }
  });
  return { ...reader, close: database.close };
}

async function openToRead(url: string | null, stateDir: string): Promise<ReadableDatabase> {
  if (url === null) return (await import('./sqlite-database.js')).openSqliteToRead(stateDir);
  const address = parsePostgresUrl(url);
  return (await import('./postgres-database.js')).openPostgresToRead(address);
}
