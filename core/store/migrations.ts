import { type Kysely, PostgresAdapter, sql, type Transaction } from 'kysely';
import { ALL_CALL_MEMBERS, listCallMembers, REJECTION_MEMBERS } from '../contract/call-record.js';
import { FIRST_PREV } from './audit-row.js';
import { StoreUnavailable } from './store-unavailable.js';
import type { Tables } from './tables.js';

interface Migration {
  readonly version: number;
  /**
   * The least version that a host must know to go on with the store. Set it where the migration removes or changes
   * what earlier versions use; one that only adds keeps that of the version before.
   */
  readonly leastReader?: number;
  up(trx: Transaction<Tables>): Promise<void>;
}

/** The first version that stores the least version of its readers. Hosts of earlier ones read only their own. */
const FIRST_WITH_LEAST_READER = 10;

/**
 * Forward only, in order; a released migration is never changed. During an upgrade, hosts of the version before run
 * on the migrated store: expand in one release, and contract in a later one, when no host needs the old form.
 */
const MIGRATIONS: readonly Migration[] = [
  { version: 1, up: createFirstTables },
  { version: 2, up: createCallTable },
  { version: 4, up: createSurfaceTables },
  { version: 5, up: addCallScopes },
  { version: 6, up: addSurfaceIndexes },
  { version: 7, up: createFleetTable },
  { version: 8, up: createApprovalTable },
  { version: 9, up: createReleaseTables },
  { version: FIRST_WITH_LEAST_READER, up: addLeastReader, leastReader: FIRST_WITH_LEAST_READER },
];

/** The members of call records declare which version adds their columns and indexes. */
const SCHEMA_VERSION = Math.max(
  ...MIGRATIONS.map(({ version }) => version),
  ...Object.values(ALL_CALL_MEMBERS).map(({ since = 0, filterSince = 0 }) =>
    Math.max(since, filterSince),
  ),
);

/**
 * Migrates the tables to this version. Call it in a transaction that excludes other hosts.
 * A store that is newer and still readable is left as it is.
 * @throws StoreUnavailable when a newer modgate has changed what this one uses; the store is not changed then.
 */
export async function migrate(trx: Transaction<Tables>): Promise<void> {
  await trx.schema
    .createTable('schema_version')
    .ifNotExists()
    .addColumn('version', 'integer', (column) => column.primaryKey())
    .addColumn('applied_at', 'text', (column) => column.notNull())
    .execute();
  const current = await readSchema(trx);
  requireReadableSchema(current);
  for (let version = current.version + 1; version <= SCHEMA_VERSION; version += 1) {
    await MIGRATIONS.find((migration) => migration.version === version)?.up(trx);
    await extendCallTable(trx, version);
    const row = { version, applied_at: new Date().toISOString() };
    const least_reader = findLeastReader(version);
    await trx
      .insertInto('schema_version')
      .values(least_reader === null ? row : { ...row, least_reader })
      .execute();
  }
}

/** Lists the tables of a store. */
interface StoreSchema {
  /** 0 before the first migration. */
  readonly version: number;
  /** Hosts that know this version, or a later one, may use the store. */
  readonly leastReader: number;
}

/** @throws when the table is missing. */
export async function readSchema(query: Kysely<Tables>): Promise<StoreSchema> {
  // Earlier versions do not have the column.
  const rows = await query.selectFrom('schema_version').selectAll().execute();
  return {
    version: Math.max(0, ...rows.map(({ version }) => version)),
    leastReader: Math.max(0, ...rows.map((row) => row.least_reader ?? row.version)),
  };
}

/** @throws StoreUnavailable when a newer modgate has changed what this one uses. */
export function requireReadableSchema({ version, leastReader }: StoreSchema): void {
  if (leastReader <= SCHEMA_VERSION) return;
  const message =
    `the store was written by a newer modgate: its schema is version ${version} and needs ` +
    `version ${leastReader}, this modgate supports ${SCHEMA_VERSION}`;
  throw new StoreUnavailable('newer_schema', { message });
}

/** `null` for versions that do not store it. */
function findLeastReader(version: number): number | null {
  if (version < FIRST_WITH_LEAST_READER) return null;
  const until = MIGRATIONS.filter((migration) => migration.version <= version);
  return Math.max(...until.map(({ leastReader = 0 }) => leastReader));
}

async function createFirstTables(trx: Transaction<Tables>): Promise<void> {
  await createSecretTable(trx);
  await createConfigTables(trx);
  await createAuditTables(trx);
}

async function createSecretTable(trx: Transaction<Tables>): Promise<void> {
  await trx.schema
    .createTable('store_secret')
    .addColumn('name', 'text', (column) => column.primaryKey().notNull())
    .addColumn('value', 'text', (column) => column.notNull())
    .addColumn('key_id', 'text')
    .execute();
}

async function createConfigTables(trx: Transaction<Tables>): Promise<void> {
  await trx.schema
    .createTable('config_module')
    .addColumn('module', 'text', (column) => column.primaryKey().notNull())
    .addColumn('revision', 'bigint', (column) => column.notNull())
    .execute();
  await trx.schema
    .createTable('config_value')
    .addColumn('module', 'text', (column) => column.notNull().references('config_module.module'))
    .addColumn('service', 'text', (column) => column.notNull())
    .addColumn('key', 'text', (column) => column.notNull())
    .addColumn('value', 'text', (column) => column.notNull())
    .addColumn('key_id', 'text')
    .addColumn('sensitive', 'integer', (column) => column.notNull())
    .addColumn('updated_at', 'text', (column) => column.notNull())
    .addPrimaryKeyConstraint('config_value_primary', ['module', 'service', 'key'])
    .execute();
}

async function createAuditTables(trx: Transaction<Tables>): Promise<void> {
  await trx.schema
    .createTable('audit_head')
    .addColumn('singleton', 'integer', (column) => column.primaryKey())
    .addColumn('id', 'bigint', (column) => column.notNull())
    .addColumn('hash', 'text', (column) => column.notNull())
    .execute();
  await trx.insertInto('audit_head').values({ singleton: 1, id: 0, hash: FIRST_PREV }).execute();
  await trx.schema
    .createTable('audit_row')
    .addColumn('id', 'bigint', (column) => column.primaryKey().notNull())
    .addColumn('at', 'text', (column) => column.notNull())
    .addColumn('actor_kind', 'text', (column) => column.notNull())
    .addColumn('actor_id', 'text', (column) => column.notNull())
    .addColumn('module', 'text', (column) => column.notNull())
    .addColumn('permission', 'text', (column) => column.notNull())
    .addColumn('operation', 'text', (column) => column.notNull())
    .addColumn('target', 'text', (column) => column.notNull())
    .addColumn('outcome', 'text', (column) => column.notNull())
    .addColumn('request_id', 'text', (column) => column.notNull())
    .addColumn('correlation_id', 'text', (column) => column.notNull())
    .addColumn('value_digest', 'text')
    .addColumn('prev', 'text', (column) => column.notNull())
    .addColumn('hash', 'text', (column) => column.notNull())
    .execute();
  await trx.schema
    .createIndex('audit_row_module')
    .on('audit_row')
    .columns(['module', 'id'])
    .execute();
}

async function createCallTable(trx: Transaction<Tables>): Promise<void> {
  await trx.schema
    .createTable('call_record')
    .addColumn('id', 'text', (column) => column.primaryKey().notNull())
    .addColumn('at', 'text', (column) => column.notNull())
    .addColumn('request_id', 'text', (column) => column.notNull())
    .addColumn('correlation_id', 'text', (column) => column.notNull())
    .addColumn('trace_id', 'text')
    .addColumn('module', 'text')
    .addColumn('method', 'text', (column) => column.notNull())
    .addColumn('route', 'text')
    .addColumn('status', 'integer', (column) => column.notNull())
    .addColumn('failure', 'text')
    .addColumn('actor', 'text')
    .addColumn('duration_ms', 'double precision', (column) => column.notNull())
    .addColumn('provider_ms', 'double precision')
    .addColumn('attempts', 'integer', (column) => column.notNull())
    .addColumn('endpoint', 'text')
    .execute();
}

const COLUMN_TYPES = {
  text: 'text',
  integer: 'integer',
  number: 'double precision',
  errors: 'text',
} as const;

/** Adds the columns and indexes that are declared for this version. In older rows the columns are null. */
async function extendCallTable(trx: Transaction<Tables>, version: number): Promise<void> {
  for (const name of listCallMembers(({ since }) => since === version)) {
    const type = COLUMN_TYPES[ALL_CALL_MEMBERS[name].kind];
    await trx.schema.alterTable('call_record').addColumn(name, type).execute();
  }
  for (const name of listCallMembers(({ filterSince }) => filterSince === version)) {
    await trx.schema
      .createIndex(`call_record_${name}`)
      .on('call_record')
      .columns([name, 'id'])
      // Most calls are not rejected.
      .$call((index) => (name in REJECTION_MEMBERS ? index.where(name, 'is not', null) : index))
      .execute();
  }
}

async function addCallScopes(trx: Transaction<Tables>): Promise<void> {
  await trx.schema.alterTable('call_record').addColumn('scopes', 'text').execute();
}

async function createSurfaceTables(trx: Transaction<Tables>): Promise<void> {
  await trx.schema
    .createTable('surface_record')
    .addColumn('surface', 'text', (column) => column.notNull())
    .addColumn('key', 'text', (column) => column.notNull())
    .addColumn('value', 'text', (column) => column.notNull())
    .addColumn('expires_at', 'text', (column) => column.notNull())
    .addPrimaryKeyConstraint('surface_record_primary', ['surface', 'key'])
    .execute();
  await trx.schema
    .createTable('surface_lock')
    .addColumn('surface', 'text', (column) => column.primaryKey().notNull())
    .execute();
}

/**
 * Expired records are removed, and all are counted, with each write. PostgreSQL orders the primary key as a
 * language does, which no prefix of a key can use.
 */
async function addSurfaceIndexes(trx: Transaction<Tables>): Promise<void> {
  const create = (name: string) => trx.schema.createIndex(name).on('surface_record');
  await create('surface_record_expiry').columns(['surface', 'expires_at']).execute();
  if (!(trx.getExecutor().adapter instanceof PostgresAdapter)) return;
  await create('surface_record_key').expression(sql`surface, key collate "C"`).execute();
}

async function createFleetTable(trx: Transaction<Tables>): Promise<void> {
  await trx.schema
    .createTable('fleet_host')
    .addColumn('fleet', 'text', (column) => column.notNull())
    .addColumn('id', 'text', (column) => column.notNull())
    .addColumn('version', 'text', (column) => column.notNull())
    .addColumn('address', 'text', (column) => column.notNull())
    .addColumn('digest', 'text', (column) => column.notNull())
    .addColumn('state', 'text', (column) => column.notNull())
    .addColumn('workers', 'integer', (column) => column.notNull())
    .addColumn('rejected', 'text', (column) => column.notNull())
    .addColumn('serves', 'text')
    .addColumn('started_at', 'text', (column) => column.notNull())
    .addColumn('heartbeat_at', 'text', (column) => column.notNull())
    .addPrimaryKeyConstraint('fleet_host_primary', ['fleet', 'id'])
    .execute();
}

async function createApprovalTable(trx: Transaction<Tables>): Promise<void> {
  await trx.schema
    .createTable('approval')
    .addColumn('id', 'text', (column) => column.primaryKey().notNull())
    .addColumn('kind', 'text', (column) => column.notNull())
    .addColumn('status', 'text', (column) => column.notNull())
    .addColumn('module', 'text', (column) => column.notNull())
    .addColumn('operation', 'text', (column) => column.notNull())
    .addColumn('actor_kind', 'text', (column) => column.notNull())
    .addColumn('actor_id', 'text', (column) => column.notNull())
    .addColumn('binding', 'text', (column) => column.notNull())
    .addColumn('content', 'text', (column) => column.notNull())
    .addColumn('requested_at', 'text', (column) => column.notNull())
    .addColumn('expires_at', 'text', (column) => column.notNull())
    .addColumn('decided_at', 'text')
    .addColumn('decider_kind', 'text')
    .addColumn('decider_id', 'text')
    .execute();
  const create = (name: string) => trx.schema.createIndex(name).on('approval');
  await create('approval_binding').column('binding').execute();
  await create('approval_status').columns(['status', 'module']).execute();
}

async function addLeastReader(trx: Transaction<Tables>): Promise<void> {
  await trx.schema.alterTable('schema_version').addColumn('least_reader', 'integer').execute();
}

async function createReleaseTables(trx: Transaction<Tables>): Promise<void> {
  await trx.schema
    .createTable('release')
    .addColumn('fleet', 'text', (column) => column.notNull())
    .addColumn('id', 'text', (column) => column.notNull())
    .addColumn('number', 'integer', (column) => column.notNull())
    .addColumn('base', 'text')
    .addColumn('author_kind', 'text', (column) => column.notNull())
    .addColumn('author_id', 'text', (column) => column.notNull())
    .addColumn('created_at', 'text', (column) => column.notNull())
    .addColumn('note', 'text', (column) => column.notNull())
    .addColumn('least_version', 'text', (column) => column.notNull())
    .addColumn('files', 'integer', (column) => column.notNull())
    .addColumn('bytes', 'integer', (column) => column.notNull())
    .addColumn('content', 'text', (column) => column.notNull())
    .addColumn('verdict', 'text')
    .addPrimaryKeyConstraint('release_primary', ['fleet', 'id'])
    .execute();
  await trx.schema
    .createTable('release_state')
    .addColumn('fleet', 'text', (column) => column.primaryKey().notNull())
    .addColumn('active', 'text')
    .addColumn('canary', 'text')
    .execute();
  await trx.schema
    .createTable('release_host')
    .addColumn('fleet', 'text', (column) => column.notNull())
    .addColumn('host', 'text', (column) => column.notNull())
    .addColumn('release', 'text')
    .addColumn('problem', 'text')
    .addColumn('figures', 'text')
    .addPrimaryKeyConstraint('release_host_primary', ['fleet', 'host'])
    .execute();
}
