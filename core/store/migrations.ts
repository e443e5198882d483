import {
  type CreateTableBuilder,
  type Kysely,
  PostgresAdapter,
  sql,
  type Transaction,
} from 'kysely';
import { describeOlderStore, FIRST_VERSION, isOlderSchema } from './older-store.js';
import { TABLES } from './parts.js';
import { StoreUnavailable } from './store-unavailable.js';
import { type Table, type Tables, VERSION_TABLES } from './tables.js';

interface Migration {
  readonly version: number;
  /** The least version that a host must know to go on with the store. Default: that of the version before. */
  readonly leastReader?: number;
  up(trx: Transaction<Tables>): Promise<void>;
}

/** The tables of a new store, and the changes that bring an older one to the same form. */
export interface Schema {
  readonly tables: Readonly<Record<string, Table>>;
  readonly migrations: readonly Migration[];
}

/**
 * Changes of existing stores other than new tables, columns and indexes, which name their version in their
 * declaration: `since`. Forward only, in order; a released one is never changed. During an upgrade, hosts of the
 * version before run on the migrated store: expand in one release, and contract in a later one, with a
 * `leastReader`, when no host needs the old form.
 */
const MIGRATIONS: readonly Migration[] = [];

const SCHEMA: Schema = { tables: TABLES, migrations: MIGRATIONS };

/**
 * Brings the tables to this version. Call it in a transaction that excludes other hosts.
 * A store that is newer and still readable is left as it is.
 * @throws StoreUnavailable for a store that this version cannot use; it is not changed then.
 */
export async function migrate(trx: Transaction<Tables>, schema: Schema = SCHEMA): Promise<void> {
  await buildTable(trx, 'schema_version', VERSION_TABLES.schema_version).ifNotExists().execute();
  const stored = await requireReadableSchema(trx, schema);
  const version = findVersion(schema);
  if (stored >= version) return;
  await addMissing(trx, schema.tables, stored);
  const missing = schema.migrations.filter((migration) => migration.version > stored);
  // A new store never had an older form.
  if (stored > 0) for (const { up } of missing) await up(trx);
  const leastReaders = schema.migrations.map(({ leastReader = FIRST_VERSION }) => leastReader);
  const least_reader = Math.max(FIRST_VERSION, ...leastReaders);
  await trx
    .insertInto('schema_version')
    .values({ version, applied_at: new Date().toISOString(), least_reader })
    .execute();
}

/**
 * @returns the version of the store; 0 for a new one
 * @throws StoreUnavailable for a store of an earlier modgate, and for one that needs a newer modgate.
 * @throws when the table is missing.
 */
export async function requireReadableSchema(
  query: Kysely<Tables>,
  schema: Schema = SCHEMA,
): Promise<number> {
  // Earlier versions do not have the last column.
  const rows = await query.selectFrom('schema_version').selectAll().execute();
  const version = Math.max(0, ...rows.map((row) => row.version));
  if (isOlderSchema(version)) {
    const message = describeOlderStore(version, isPostgres(query));
    throw new StoreUnavailable('older_schema', { message });
  }
  const supported = findVersion(schema);
  const leastReader = Math.max(0, ...rows.map((row) => row.least_reader ?? row.version));
  if (leastReader <= supported) return version;
  const message =
    `the store was written by a newer modgate: its schema is version ${version} and needs ` +
    `version ${leastReader}, this modgate supports ${supported}`;
  throw new StoreUnavailable('newer_schema', { message });
}

/** Does work in a transaction, unless a newer modgate has begun to need what this one does not know. */
export function inReadableSchema<T>(work: (trx: Transaction<Tables>) => Promise<T>) {
  return async (trx: Transaction<Tables>): Promise<T> => {
    await requireReadableSchema(trx);
    return work(trx);
  };
}

interface Versioned {
  readonly since?: number;
}

function findVersion({ tables, migrations }: Schema): number {
  const declared: Versioned[] = Object.values(tables).flatMap((table) => [
    table,
    ...Object.values(table.columns),
    ...Object.values(table.indexes ?? {}),
  ]);
  const versions = migrations.map(({ version }) => version);
  return Math.max(FIRST_VERSION, ...versions, ...declared.map(({ since = 0 }) => since));
}

/** Adds tables, columns and indexes that are newer than the store. In existing rows the columns are null. */
async function addMissing(
  trx: Transaction<Tables>,
  tables: Schema['tables'],
  version: number,
): Promise<void> {
  const isMissing = ({ since = FIRST_VERSION }: Versioned) => since > version;
  for (const [name, table] of Object.entries(tables)) {
    const isNew = isMissing(table);
    if (isNew) await createTable(trx, name, table);
    for (const [column, declared] of Object.entries(table.columns)) {
      if (isNew || !isMissing(declared)) continue;
      await trx.schema.alterTable(name).addColumn(column, declared.type).execute();
    }
    for (const [index, { on, where, isPostgresOnly, ...declared }] of Object.entries(
      table.indexes ?? {},
    )) {
      if (!(isNew || isMissing(declared)) || (isPostgresOnly && !isPostgres(trx))) continue;
      await trx.schema
        .createIndex(index)
        .on(name)
        .expression(sql.raw(on))
        .$call((create) => (where === undefined ? create : create.where(sql.raw<boolean>(where))))
        .execute();
    }
  }
}

async function createTable(trx: Transaction<Tables>, name: string, table: Table): Promise<void> {
  await buildTable(trx, name, table).execute();
  const { rows = [] } = table;
  const untyped = trx as unknown as Transaction<Record<string, object>>;
  if (rows.length > 0) await untyped.insertInto(name).values(rows).execute();
}

function buildTable(trx: Transaction<Tables>, name: string, { columns, primaryKey }: Table) {
  let create: CreateTableBuilder<string, string> = trx.schema.createTable(name);
  for (const [column, { type, isNullable, references }] of Object.entries(columns)) {
    create = create.addColumn(column, type, (build) => {
      const built = isNullable ? build : build.notNull();
      return references === undefined ? built : built.references(references);
    });
  }
  return create.addPrimaryKeyConstraint(`${name}_primary`, [...primaryKey]);
}

function isPostgres(query: Kysely<Tables>): boolean {
  return query.getExecutor().adapter instanceof PostgresAdapter;
}
