import { randomUUID } from 'node:crypto';
import { Kysely, PostgresDialect, type PostgresPool, sql, type Transaction } from 'kysely';
import {
  type ChangeListener,
  type Database,
  type NoticeListener,
  openOrClose,
  type ReadableDatabase,
} from './database.js';
import { inReadableSchema, migrate, requireReadableSchema } from './migrations.js';
import {
  type Access,
  assertCertificateFiles,
  createPool,
  type Pool,
} from './postgres-connection.js';
import { explainPostgresError, isPostgresContention } from './postgres-error.js';
import { NOTICE, PostgresListener } from './postgres-listener.js';
import type { PostgresAddress } from './postgres-url.js';
import { retryContended } from './retry-contended.js';
import { StoreUnavailable } from './store-unavailable.js';
import type { Tables } from './tables.js';

// Writers queue for one row; the other connection is for reading.
const MAX_CONNECTIONS = 2;

interface PostgresOptions {
  readonly onChange: ChangeListener;
  readonly onNotice?: NoticeListener;
  /** Whether statements use the connection that listens, so that the process has only one. */
  readonly hasOneConnection?: boolean;
}

/**
 * Opens the schema and creates it where it is missing.
 * @throws StoreUnavailable
 */
export function openPostgres(
  address: PostgresAddress,
  { onChange, onNotice = () => {}, hasOneConnection = false }: PostgresOptions,
): Promise<Database> {
  const { schema } = address;
  const channel = `modgate.${schema}`;
  const origin = randomUUID();
  const listener = new PostgresListener({ schema, channel, origin, onChange, onNotice });
  const begin = async () => {
    await assertCertificateFiles(address);
    const listening = createPool(address.connectionString, {
      access: 'write',
      max: 1,
      onConnect: listener.attach,
    });
    const used = hasOneConnection ? listening : createUsedPool(address, 'write');
    const close = async () => {
      listener.close();
      await Promise.all([...new Set([listening, used])].map((pool) => pool.end()));
    };
    return { query: createQuery(address, used), listening, close };
  };
  return openOrClose(explainPostgresError, begin, async ({ query, listening, close }) => {
    await query.transaction().execute((trx) => prepare(trx, schema));
    await listener.start(listening);
    return {
      query,
      sql,
      isPostgres: true,
      explain: explainPostgresError,
      transact: (work) =>
        retryContended(
          () => query.transaction().execute(inReadableSchema(work)),
          isPostgresContention,
        ),
      announce: async (trx, module) => {
        await sql`select pg_notify(${channel}, ${`${origin} ${module}`})`.execute(trx);
      },
      sendNotice: async (notice) => {
        const payload = `${origin} ${NOTICE}${notice}`;
        await sql`select pg_notify(${channel}, ${payload})`.execute(query);
      },
      close,
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
  const pool = createUsedPool(address, access);
  // Closed here, since kysely does not end a pool that it has not used yet.
  return { query: createQuery(address, pool), close: () => pool.end() };
}

function createUsedPool({ connectionString }: PostgresAddress, access: Access): Pool {
  return createPool(connectionString, { access, max: MAX_CONNECTIONS });
}

function createQuery({ schema }: PostgresAddress, pool: Pool): Kysely<Tables> {
  // kysely calls no other members; the other form of `query` is for streams.
  const dialect = new PostgresDialect({ pool: pool as unknown as PostgresPool });
  return new Kysely<Tables>({ dialect }).withSchema(schema);
}

/** The lock serializes hosts that start at the same time. */
async function prepare(trx: Transaction<Tables>, schema: string): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${`modgate.${schema}`}, 0))`.execute(trx);
  const { rows } = await sql`select 1 from pg_namespace where nspname = ${schema}`.execute(trx);
  // Checked first: `if not exists` requires the permission to create even where the schema exists.
  if (rows.length === 0) await trx.schema.createSchema(schema).execute();
  await migrate(trx);
}
