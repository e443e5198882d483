import { randomUUID } from 'node:crypto';
import { Kysely, PostgresDialect, sql, type Transaction } from 'kysely';
import {
  type ChangeListener,
  type Database,
  type NoticeListener,
  openOrClose,
  type ReadableDatabase,
} from './database.js';
import { migrate, requireReadableSchema } from './migrations.js';
import { type Access, assertCertificateFiles, createPool } from './postgres-connection.js';
import { explainPostgresError, isPostgresContention } from './postgres-error.js';
import { NOTICE, PostgresListener } from './postgres-listener.js';
import type { PostgresAddress } from './postgres-url.js';
import { retryContended } from './retry-contended.js';
import { StoreUnavailable } from './store-unavailable.js';
import type { Tables } from './tables.js';

/**
 * Opens the schema and creates it where it is missing.
 * @throws StoreUnavailable
 */
export function openPostgres(
  address: PostgresAddress,
  onChange: ChangeListener,
  onNotice: NoticeListener = () => {},
): Promise<Database> {
  const begin = () => connect(address, 'write');
  return openOrClose(explainPostgresError, begin, async ({ query, close }) => {
    const channel = `modgate.${address.schema}`;
    const origin = randomUUID();
    await query.transaction().execute((trx) => prepare(trx, address.schema));
    const listener = await PostgresListener.open({ address, channel, origin, onChange, onNotice });
    return {
      query,
      sql,
      isPostgres: true,
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
  });
}

/**
 * Opens an existing schema and changes nothing.
 * @throws StoreUnavailable
 */
export function openPostgresToRead(
  address: PostgresAddress,
  access: Access = 'read',
): Promise<ReadableDatabase> {
  const explainMissing = (error: unknown) => {
    const reason = explainPostgresError(error);
    return reason?.code === 'damaged' ? new StoreUnavailable('missing') : reason;
  };
  const begin = () => connect(address, access);
  return openOrClose(explainMissing, begin, async (connection) => {
    await requireReadableSchema(connection.query);
    return { ...connection, explain: explainPostgresError };
  });
}

async function connect(
  address: PostgresAddress,
  access: Access,
): Promise<Pick<ReadableDatabase, 'query' | 'close'>> {
  await assertCertificateFiles(address);
  const pool = createPool(address.connectionString, access);
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
