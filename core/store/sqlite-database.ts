import { pathToFileURL } from 'node:url';
import { Kysely, sql } from 'kysely';
import Libsql from 'libsql';
import {
  type ChangeListener,
  type Database,
  openOrClose,
  RELEASE_CHANGE,
  type ReadableDatabase,
} from './database.js';
import { inReadableSchema, migrate, requireReadableSchema } from './migrations.js';
import { retryContended } from './retry-contended.js';
import { createLibsqlDialect } from './sqlite-driver.js';
import { explainSqliteErrorIn, isSqliteBusy } from './sqlite-error.js';
import { assertOwnFile, createSqliteFile, sqliteFile, watchIdentity } from './sqlite-file.js';
import { StoreUnavailable } from './store-unavailable.js';
import type { Tables } from './tables.js';

/**
 * Opens `modgate.db` of the state directory and creates it where it is missing.
 * @throws StoreUnavailable
 */
export function openSqlite(stateDir: string, onChange: ChangeListener): Promise<Database> {
  const file = sqliteFile(stateDir);
  const explain = (error: unknown) => explainSqliteErrorIn(stateDir, error);
  const begin = async () => {
    await createSqliteFile(stateDir);
    return connect(file, file);
  };
  return openOrClose(explain, begin, async (connection) => {
    const { query } = connection;
    // Workers open it at the same time; one that recovers a WAL locks out the others meanwhile.
    await retryContended(() => assertReadableSchema(query), isSqliteBusy);
    await retryContended(() => prepare(query), isSqliteBusy);
    const stopWatching = await retryContended(() => watchRevisions(query, onChange), isSqliteBusy);
    return {
      query,
      sql,
      isPostgres: false,
      explain,
      transact: (work) =>
        retryContended(() => query.transaction().execute(inReadableSchema(work)), isSqliteBusy),
      // Other processes poll.
      announce: async () => {},
      sendNotice: async () => {},
      close: async () => {
        stopWatching();
        // Afterwards the file alone is a complete copy; libsql 0.5 keeps the WAL when it closes. Otherwise the next
        // process that opens it reads the WAL.
        await sql`pragma wal_checkpoint(truncate)`.execute(query).catch(() => {});
        await connection.close();
      },
    };
  });
}

/**
 * Opens an existing `modgate.db`, perhaps of a running host, for reading only.
 * @throws StoreUnavailable
 */
export async function openSqliteToRead(stateDir: string): Promise<ReadableDatabase> {
  const file = sqliteFile(stateDir);
  assertOwnFile(file);
  const explain = (error: unknown) => explainSqliteErrorIn(stateDir, error);
  const begin = async () => connect(`${pathToFileURL(file).href}?mode=ro`, file);
  return openOrClose(explain, begin, async (connection) => {
    await requireReadableSchema(connection.query);
    return { ...connection, explain };
  });
}

function connect(address: string, file: string): Pick<ReadableDatabase, 'query' | 'close'> {
  const requireIntact = watchIdentity(file);
  // SQLite's own waiting would block the event loop.
  const database = new Libsql(address, { timeout: 0 });
  const query = new Kysely<Tables>({ dialect: createLibsqlDialect(database, requireIntact) });
  return { query, close: () => query.destroy().catch(() => {}) };
}

/** Runs before anything writes: a newer store must not be changed. */
async function assertReadableSchema(query: Kysely<Tables>): Promise<void> {
  const { rows } = await sql`
    select 1 from sqlite_master where type = 'table' and name = 'schema_version'
  `.execute(query);
  if (rows.length > 0) await requireReadableSchema(query);
}

async function prepare(query: Kysely<Tables>): Promise<void> {
  const { rows } = await sql<{ journal_mode: string }>`pragma journal_mode = wal`.execute(query);
  if (rows[0]?.journal_mode !== 'wal') {
    const message = 'the store must be on a local disk: SQLite cannot share its memory there';
    throw new StoreUnavailable('cannot_open', { message });
  }
  // In WAL mode, commits survive a power failure only with FULL (sqlite.org/pragma.html#pragma_synchronous).
  await sql`pragma synchronous = full`.execute(query);
  // Clear text does not remain in free pages after it was encrypted.
  await sql`pragma secure_delete = on`.execute(query);
  await query.transaction().execute((trx) => migrate(trx));
}

// Within the second that a notification of PostgreSQL may take; a poll costs 12 µs.
const POLL_MS = 250;

/**
 * Calls `onChange` for modules and releases that another process, such as a worker, has changed. What this
 * process changed as well may be reported again.
 * @returns stops watching
 */
async function watchRevisions(
  query: Kysely<Tables>,
  onChange: ChangeListener,
): Promise<() => void> {
  let lastRevisions = await readRevisions(query);
  let version = await readDataVersion(query);
  const poll = async () => {
    const current = await readDataVersion(query);
    if (current === version) return;
    const revisions = await readRevisions(query);
    const changed = [...revisions].filter(
      ([module, revision]) => (lastRevisions.get(module) ?? 0) !== revision,
    );
    [version, lastRevisions] = [current, revisions];
    for (const [module] of changed) onChange(module);
  };
  // A failure here also fails the next operation, which reports it.
  const timer = setInterval(() => void poll().catch(() => {}), POLL_MS).unref();
  return () => clearInterval(timer);
}

/** Grows when another connection commits, never by this one's own commits. */
async function readDataVersion(query: Kysely<Tables>): Promise<number> {
  const { rows } = await sql<{ data_version: number }>`pragma data_version`.execute(query);
  return rows[0]?.data_version ?? 0;
}

/** The revisions of modules, and the state of releases. */
async function readRevisions(query: Kysely<Tables>): Promise<ReadonlyMap<string, unknown>> {
  const rows = await query.selectFrom('config_module').select(['module', 'revision']).execute();
  const releases = await query.selectFrom('release_state').selectAll().orderBy('fleet').execute();
  return new Map<string, unknown>([
    ...rows.map(({ module, revision }) => [module, revision] as const),
    [RELEASE_CHANGE, JSON.stringify(releases)],
  ]);
}
