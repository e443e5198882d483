import type { PostgresPool, PostgresPoolClient } from 'kysely';
import pg from 'pg';
import { settleWithin } from '../lib/promises.js';
import { orLost } from './postgres-error.js';

// A caller waits for these: past them the answer is 503.
const CONNECT_TIMEOUT_MS = 2000;
const QUERY_TIMEOUT_MS = 5000;
/** A server that hangs does not say goodbye; it must not hold up the end of the host. */
export const CLOSE_TIMEOUT_MS = 1000;
// Writers queue for one row anyway; these are enough to read beside them.
const MAX_CONNECTIONS = 4;
const INT8_OID = 20;

// A host that stands still in a transaction must not hold up the others. By a statement, since poolers
// such as PgBouncer refuse these as parameters of the connection.
const SESSION_SETTINGS = `select set_config('statement_timeout', '${QUERY_TIMEOUT_MS}', false),
  set_config('idle_in_transaction_session_timeout', '${2 * QUERY_TIMEOUT_MS}', false)`;

/** Ids and revisions are far below 2^53. */
const NUMBERS: pg.CustomTypesConfig = {
  getTypeParser: (oid, format) => (oid === INT8_OID ? Number : pg.types.getTypeParser(oid, format)),
};

export function connectionOptions(connectionString: string): pg.ClientConfig {
  return {
    connectionString,
    application_name: 'modgate',
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    query_timeout: QUERY_TIMEOUT_MS,
    keepAlive: true,
    types: NUMBERS,
  };
}

/** A pool for kysely that tells a lost connection from a refused query: after one it is of no more use. */
export function createPool(connectionString: string): PostgresPool {
  const pool = new pg.Pool({ ...connectionOptions(connectionString), max: MAX_CONNECTIONS });
  const guarded = new WeakMap<pg.PoolClient, PostgresPoolClient>();
  // An idle connection that breaks is gone from the pool by itself.
  pool.on('error', () => {});
  pool.on('connect', (client) => client.on('error', () => {}));
  return {
    connect: async () => {
      const client = await orLost(pool.connect());
      const known = guarded.get(client) ?? (await prepareClient(client));
      guarded.set(client, known);
      return known;
    },
    end: () => settleWithin(pool.end(), CLOSE_TIMEOUT_MS),
  };
}

async function prepareClient(client: pg.PoolClient): Promise<PostgresPoolClient> {
  const guarded = guardClient(client);
  try {
    await orLost(client.query(SESSION_SETTINGS));
  } catch (error) {
    client.release(true);
    throw error;
  }
  return guarded;
}

function guardClient(client: pg.PoolClient): PostgresPoolClient {
  const query = (text: string, parameters: readonly unknown[]) =>
    orLost(client.query(text, [...parameters]));
  const release = () => client.release();
  // Of the two forms of `query` kysely calls this one: the other is for streams.
  return { query, release } as unknown as PostgresPoolClient;
}
