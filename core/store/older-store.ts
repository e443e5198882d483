import { existsSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { type PostgresAddress, parsePostgresUrl } from './postgres-url.js';
import { assertOwnFile, sqliteFile } from './sqlite-file.js';

/** The version of the schema from which stores are migrated. Those of earlier versions are rejected. */
export const FIRST_VERSION = 15;

/** How long a start waits for a database server. Milliseconds. */
const TIMEOUT_MS = 1000;

export function isOlderSchema(version: number): boolean {
  return version > 0 && version < FIRST_VERSION;
}

export function describeOlderStore(version: number, isPostgres: boolean): string {
  const move = isPostgres
    ? 'rename the schema of the store with ALTER SCHEMA, or name a new one with ?schema= in --store'
    : 'move modgate.db, modgate.db-wal and modgate.db-shm out of the state folder';
  return (
    `the store was written by an earlier modgate: its schema is version ${version}, and this ` +
    `modgate begins a new store with version ${FIRST_VERSION}; stop its hosts, ${move}, start ` +
    'again, and write the configuration values again'
  );
}

/**
 * Finds a store that ends the start of a host, with the driver alone: kysely takes 100 ms to load.
 * @returns the reason and what to do; `null` also for a store that cannot be read now
 * @throws ConfigError for an invalid URL.
 */
export async function findOlderStore(url: string | null, stateDir: string): Promise<string | null> {
  const address = url === null ? null : parsePostgresUrl(url);
  try {
    const version = await (address === null ? readSqlite(stateDir) : readPostgres(address));
    return isOlderSchema(version) ? describeOlderStore(version, address !== null) : null;
  } catch {
    // The host starts without its store, and logs the reason when it opens it.
    return null;
  }
}

interface VersionRow {
  readonly version: number | null;
}

async function readSqlite(stateDir: string): Promise<number> {
  const file = sqliteFile(stateDir);
  if (!existsSync(file)) return 0;
  assertOwnFile(file);
  const { default: Libsql } = await import('libsql');
  const database = new Libsql(`${pathToFileURL(file).href}?mode=ro`, { timeout: 0 });
  try {
    const select = database.prepare('select max(version) as version from schema_version');
    return (select.get([]) as VersionRow).version ?? 0;
  } finally {
    database.close();
  }
}

async function readPostgres(address: PostgresAddress): Promise<number> {
  const { assertCertificateFiles, connectionOptions } = await import('./postgres-connection.js');
  const { default: pg } = await import('pg');
  await assertCertificateFiles(address);
  const client = new pg.Client({
    ...connectionOptions(address.connectionString),
    connectionTimeoutMillis: TIMEOUT_MS,
    query_timeout: TIMEOUT_MS,
  });
  // Without a listener, a connection error would end the process.
  client.on('error', () => {});
  try {
    await client.connect();
    const table = `${pg.escapeIdentifier(address.schema)}.schema_version`;
    const { rows } = await client.query<VersionRow>(`select max(version) as version from ${table}`);
    return rows[0]?.version ?? 0;
  } finally {
    // A server that hangs must not delay the start.
    void client.end().catch(() => {});
  }
}
