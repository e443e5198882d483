import { setMaxListeners } from 'node:events';
import pg from 'pg';
import { Semaphore } from '../contract/semaphore.js';
import { FileError, readSmallFile } from '../document/read-file.js';
import { settleWithin } from '../lib/promises.js';
import { rethrowConnectionLost } from './postgres-error.js';
import { listCertificateFiles, type PostgresAddress } from './postgres-url.js';
import { StoreUnavailable } from './store-unavailable.js';

// Callers wait for these; then the response is 503.
const CONNECT_TIMEOUT_MS = 2000;
const QUERY_TIMEOUT_MS = 5000;
/** A server that hangs must not delay the shutdown of the host. */
const CLOSE_TIMEOUT_MS = 1000;
const INT8_OID = 20;

// A host that stops in a transaction must not block the others. Set by a statement, since poolers such as
// PgBouncer reject these as connection parameters.
const SESSION_SETTINGS = `set_config('statement_timeout', '${QUERY_TIMEOUT_MS}', false),
  set_config('idle_in_transaction_session_timeout', '${2 * QUERY_TIMEOUT_MS}', false)`;

/** `write` rejects servers that are read-only. */
export type Access = 'read' | 'write';

/** A column: `on` also on a standby. */
export const READ_ONLY = `current_setting('transaction_read_only') as read_only`;

export interface SessionRow {
  readonly read_only: string;
}

/**
 * After a failover, the address may lead to a standby for some seconds: a connection must not stay there.
 * @throws StoreUnavailable
 */
export function assertWritable(row: SessionRow | undefined): void {
  if (row?.read_only === 'on') throw new StoreUnavailable('read_only_server');
}

/** Connections that are opened when they are needed. */
export interface Pool {
  connect(): Promise<Connection>;
  end(): Promise<void>;
}

interface Connection {
  query<Row extends pg.QueryResultRow>(
    text: string,
    parameters: readonly unknown[],
  ): Promise<{ readonly rows: Row[] }>;
  /** @param isBroken closes the connection */
  release(isBroken?: boolean): void;
}

interface PoolOptions {
  readonly access: Access;
  readonly max: number;
  /** Prepares each new connection. */
  readonly onConnect?: (client: pg.PoolClient) => Promise<void>;
}

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

/** The driver reads these files synchronously, and reading a pipe would wait for a writer. */
export async function assertCertificateFiles(address: PostgresAddress): Promise<void> {
  for (const [parameter, file] of listCertificateFiles(address)) {
    await readSmallFile(file).catch((cause: unknown) => {
      if (!(cause instanceof FileError)) throw cause;
      const message = `the file of ${parameter} in the URL of the store ${cause.message}`;
      throw new StoreUnavailable('cannot_open', { message, cause });
    });
  }
}

/** A pool that distinguishes a lost connection, after which it is unusable, from a failed query. */
export function createPool(connectionString: string, options: PoolOptions): Pool {
  const { max } = options;
  const pool = new pg.Pool({ ...connectionOptions(connectionString), max });
  const wrapped = new WeakMap<pg.PoolClient, Connection>();
  // Its queue is bounded by the operations of the store. The pool would count the wait for a free connection as
  // one for the server.
  const turns = new Semaphore(max, Number.POSITIVE_INFINITY);
  const closing = new AbortController();
  // One for each operation that waits.
  setMaxListeners(0, closing.signal);
  // The pool removes idle connections that break.
  pool.on('error', () => {});
  pool.on('connect', (client) => client.on('error', () => {}));
  return {
    connect: async () => {
      if (!turns.tryAcquire())
        await rethrowConnectionLost(turns.acquire({ signal: closing.signal }));
      try {
        const client = await rethrowConnectionLost(pool.connect());
        const prepared =
          wrapped.get(client) ?? (await prepareClient(client, options, () => turns.release()));
        wrapped.set(client, prepared);
        return prepared;
      } catch (error) {
        turns.release();
        throw error;
      }
    },
    end: () => {
      closing.abort();
      return settleWithin(pool.end(), CLOSE_TIMEOUT_MS);
    },
  };
}

async function prepareClient(
  client: pg.PoolClient,
  { access, onConnect }: PoolOptions,
  onRelease: () => void,
): Promise<Connection> {
  const wrapped = wrapClient(client, onRelease);
  try {
    const prepare = client.query<SessionRow>(`select ${READ_ONLY}, ${SESSION_SETTINGS}`);
    const { rows } = await rethrowConnectionLost(prepare);
    if (access === 'write') assertWritable(rows[0]);
    if (onConnect !== undefined) await rethrowConnectionLost(onConnect(client));
  } catch (error) {
    client.release(true);
    throw error;
  }
  return wrapped;
}

function wrapClient(client: pg.PoolClient, onRelease: () => void): Connection {
  return {
    query: <Row extends pg.QueryResultRow>(text: string, parameters: readonly unknown[]) =>
      rethrowConnectionLost(client.query<Row>(text, [...parameters])),
    release: (isBroken = false) => {
      client.release(isBroken);
      onRelease();
    },
  };
}
