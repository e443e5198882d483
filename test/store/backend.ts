import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import type { Log } from '../../core/contract/index.js';
import type { Database } from '../../core/store/database.js';
import { parseStoreKeys } from '../../core/store/encryption-keys.js';
import { openPostgres } from '../../core/store/postgres-database.js';
import { parsePostgresUrl } from '../../core/store/postgres-url.js';
import { openSqlite } from '../../core/store/sqlite-database.js';
import type { Store } from '../../core/store/store.js';
import { started } from '../support/started.js';
import { openStore } from '../support/store/open-store.js';

export const POSTGRES_URL =
  process.env['MODGATE_TEST_POSTGRES'] ?? 'postgres://postgres@127.0.0.1:5432/test';

/** A store for one test, in either database. */
export interface Backend {
  readonly url: string | null;
  readonly stateDir: string;
  /** Closed by `dispose`. `keys` as in MODGATE_STORE_KEY. */
  open(keys?: string, log?: Log): Promise<Store>;
  /** Direct access to the database. Closed by `dispose`. */
  openDatabase(): Promise<Database>;
  dispose(): Promise<void>;
}

export const silent: Log = { debug() {}, info() {}, warn() {}, error() {} };

export function createSqliteBackend(): Backend {
  const stateDir = mkdtempSync(join(tmpdir(), 'modgate-store-'));
  const removeFolder = async () => rmSync(stateDir, { recursive: true, force: true });
  return createBackend(null, stateDir, () => openSqlite(stateDir, () => {}), removeFolder);
}

/** Uses a separate schema, which `dispose` drops. Stores of workers have one connection. */
export function createPostgresBackend(base: string = POSTGRES_URL, isWorker = false): Backend {
  const schema = `modgate_test_${randomBytes(6).toString('hex')}`;
  const url = withSchema(base, schema);
  const open = () => openPostgres(parsePostgresUrl(url), { onChange: () => {} });
  const drop = () => runSql(`drop schema if exists ${schema} cascade`);
  return createBackend(url, '', open, drop, isWorker);
}

export function withSchema(base: string, schema: string): string {
  const url = new URL(base);
  url.searchParams.set('schema', schema);
  return url.href;
}

/** Runs on a separate connection. */
export async function runSql(text: string): Promise<pg.QueryResult> {
  const client = new pg.Client(POSTGRES_URL);
  await client.connect();
  try {
    return await client.query(text);
  } finally {
    await client.end();
  }
}

/**
 * A hook for `before`: without a server the tests are skipped, with the reason on stderr; in CI
 * they fail.
 */
export async function requirePostgres(context: Mocha.Context): Promise<void> {
  try {
    await runSql('select 1');
  } catch (error) {
    if (process.env['CI'] === 'true') throw error;
    const code = (error as { code?: string }).code ?? String(error);
    process.stderr.write(`    skipped: no PostgreSQL at MODGATE_TEST_POSTGRES (${code})\n`);
    context.skip();
  }
}

function createBackend(
  url: string | null,
  stateDir: string,
  connect: () => Promise<Database>,
  remove: () => Promise<unknown>,
  isWorker = false,
): Backend {
  const opened: { close(): Promise<void> }[] = [];
  const keep = <T extends { close(): Promise<void> }>(resource: T): T => {
    opened.push(resource);
    return resource;
  };
  return {
    url,
    stateDir,
    open: async (keys, log = silent) =>
      keep(await openStore({ url, stateDir, isWorker, keys: parseStoreKeys(keys), log })),
    openDatabase: async () => keep(await connect()),
    dispose: async () => {
      await Promise.all(opened.map((resource) => resource.close()));
      await remove();
    },
  };
}

interface DatabaseKind {
  readonly name: string;
  create(): Backend;
  require(context: Mocha.Context): Promise<void>;
}

export const BACKENDS: readonly DatabaseKind[] = [
  { name: 'SQLite', create: createSqliteBackend, require: async () => {} },
  { name: 'PostgreSQL', create: () => createPostgresBackend(), require: requirePostgres },
];

/** A new backend for each test of a `describe`; use it in tests and hooks. */
export function useBackend({ create, require }: DatabaseKind): Omit<Backend, 'dispose'> {
  let current: Backend | undefined;

  before(async function () {
    await require(this);
  });
  beforeEach(() => {
    current = create();
  });
  afterEach(() => current?.dispose());

  return {
    get url() {
      return started(current).url;
    },
    get stateDir() {
      return started(current).stateDir;
    },
    open: (keys, log) => started(current).open(keys, log),
    openDatabase: () => started(current).openDatabase(),
  };
}
