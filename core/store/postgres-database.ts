import { randomUUID } from 'node:crypto';
import { Kysely, PostgresDialect, sql, type Transaction } from 'kysely';
import { FileError, readSmallFile } from '../document/read-file.js';
import type { ChangeListener, Database, NoticeListener, ReadableDatabase } from './database.js';
import { migrate, readSchema, requireReadableSchema } from './migrations.js';
import { createPool } from './postgres-connection.js';
import { explainPostgresError, isPostgresContention } from './postgres-error.js';
import { NOTICE, PostgresListener } from './postgres-listener.js';
import { listCertificateFiles, type PostgresAddress } from './postgres-url.js';
import { retryContended } from './retry-contended.js';
import { StoreUnavailable } from './store-unavailable.js';
import type { Tables } from './tables.js';

/**
 * Opens the schema and creates it where it is missing.
 * @throws StoreUnavailable
 */
export async function openPostgres(
  address: PostgresAddress,
  onChange: ChangeListener,
  onNotice: NoticeListener = () => {},
): Promise<Database> {
  try {
    return await openSchema(address, onChange, onNotice);
  } catch (error) {
    throw explainPostgresError(error) ?? error;
  }
}

async function openSchema(
  address: PostgresAddress,
  onChange: ChangeListener,
  onNotice: NoticeListener,
): Promise<Database> {
  await assertCertificateFiles(address);
  const { query, close } = connect(address);
  const channel = `modgate.${address.schema}`;
  const origin = randomUUID();
  try {
    await query.transaction().execute((trx) => prepare(trx, address.schema));
    const listener = await PostgresListener.open({ address, channel, origin, onChange, onNotice });
    return {
      query,
      sql,
      locksRows: true,
      explain: explainPostgresError,
      transact: (work) =>
        retryContended(() => query.transaction().execute(work), isPostgresContention),
      announce: async (trx, module) => {
        await sql`select pg_notify(${channel}, ${`${origin} ${module}`})`.execute(trx);
      },
      sendNotice: async (notice) => {
        const payload = `${origin} ${NOTICE}${notice}`;
        await sql`select pg_notify(${channel}, ${payload})`.execute(query);
      },
      close: async () => {
        await Promise.all([listener.close(), close()]);
      },
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/** The driver reads these files synchronously, and reading a pipe would wait for a writer. */
async function assertCertificateFiles(address: PostgresAddress): Promise<void> {
  for (const [parameter, file] of listCertificateFiles(address)) {
    await readSmallFile(file).catch((cause: unknown) => {
      if (!(cause instanceof FileError)) throw cause;
      const message = `the file of ${parameter} in the URL of the store ${cause.message}`;
      throw new StoreUnavailable('cannot_open', { message, cause });
    });
  }
}

/**
 * Opens an existing schema for reading only.
 * @throws StoreUnavailable
 */
export async function openPostgresToRead(address: PostgresAddress): Promise<ReadableDatabase> {
  await assertCertificateFiles(address);
  const { query, close } = connect(address);
  try {
    requireReadableSchema(await readSchema(query));
    return { query, explain: explainPostgresError, close };
  } catch (error) {
    await close();
    const reason = explainPostgresError(error);
    throw reason?.code === 'damaged' ? new StoreUnavailable('missing') : (reason ?? error);
  }
}

function connect(address: PostgresAddress): Pick<ReadableDatabase, 'query' | 'close'> {
  const pool = createPool(address.connectionString);
  const query = new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) });
  // Closed here, since kysely does not end a pool that it has not used yet.
  return { query: query.withSchema(address.schema), close: () => pool.end() };
}

/** The lock serializes hosts that start at the same time. */
async function prepare(trx: Transaction<Tables>, schema: string): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${`modgate.${schema}`}, 0))`.execute(trx);
  const { rows } = await sql`select 1 from pg_namespace where nspname = ${schema}`.execute(trx);
  // Checked first: `if not exists` requires the permission to create even where the schema exists.
  if (rows.length === 0) await trx.schema.createSchema(schema).execute();
  await migrate(trx);
}
