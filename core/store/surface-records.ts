import { createHash } from 'node:crypto';
import type { Transaction } from 'kysely';
import type { SetRecordOptions, SurfaceRecord } from '../contract/index.js';
import type { Database, UseDatabase } from './database.js';
import { parseStored } from './parse-stored.js';
import { type Table, type Tables, texts } from './tables.js';

export const SURFACE_TABLES = {
  surface_record: {
    // The value is JSON text.
    columns: texts('surface', 'key', 'value', 'expires_at'),
    primaryKey: ['surface', 'key'],
    indexes: {
      // Expired records are removed, and all are counted, with each write.
      surface_record_expiry: { on: 'surface, expires_at' },
      // PostgreSQL orders the primary key as a language does, which no prefix of a key can use.
      surface_record_key: { on: 'surface, key collate "C"', isPostgresOnly: true },
    },
  },
  /** One row for each surface; writers lock it. */
  surface_lock: { columns: texts('surface'), primaryKey: ['surface'] },
} satisfies Record<string, Table>;

type SetResult =
  | 'set'
  /** The condition does not hold. */
  | 'skipped'
  /** The surface has too many records for a new one. */
  | 'full';

export interface SurfaceRecordWrite extends Pick<SurfaceRecord, 'key' | 'expiresAt'> {
  readonly surface: string;
  /** JSON text. */
  readonly value: string;
  readonly only: SetRecordOptions['only'] | null;
}

/** Sorts after every character of a key. */
const AFTER_KEYS = '~';
const MAX_RECORDS = 10_000;

/**
 * The records of surfaces. An expired record counts as removed.
 * @param now the clock. Milliseconds since 1970
 * @param maxRecords of each surface
 */
export function createSurfaceRecordStore(
  use: UseDatabase<Database>,
  now: () => number = Date.now,
  maxRecords = MAX_RECORDS,
) {
  const readTime = () => new Date(now()).toISOString();
  return {
    get: (surface: string, key: string): Promise<SurfaceRecord | null> =>
      use(async ({ query }) => {
        const row = await query
          .selectFrom('surface_record')
          .selectAll()
          .where(({ and }) => and({ surface, key }))
          .where('expires_at', '>', readTime())
          .executeTakeFirst();
        return row === undefined ? null : fromTable(row);
      }),
    set: (write: SurfaceRecordWrite): Promise<SetResult> =>
      use(({ transact }) => transact((trx) => put(trx, write, readTime(), maxRecords))),
    /** @returns whether there was one. */
    delete: (surface: string, key: string): Promise<boolean> =>
      use(({ transact }) =>
        transact(async (trx) => {
          const { numDeletedRows } = await trx
            .deleteFrom('surface_record')
            .where(({ and }) => and({ surface, key }))
            .where('expires_at', '>', readTime())
            .executeTakeFirstOrThrow();
          return Number(numDeletedRows) > 0;
        }),
      ),
    list: (surface: string, prefix: string): Promise<readonly SurfaceRecord[]> =>
      use(async (database) => {
        const rows = await database.query
          .selectFrom('surface_record')
          .selectAll()
          .where('surface', '=', surface)
          .where(startsWith(prefix, database))
          .orderBy('key')
          .execute();
        // Not in the query, which would then read the index of expiries instead of that of keys.
        const time = readTime();
        return rows.filter(({ expires_at }) => expires_at > time).map(fromTable);
      }),
  };
}

export type SurfaceRecordStore = ReturnType<typeof createSurfaceRecordStore>;

/** A range of the index of keys, which has to order them by their bytes. */
function startsWith(prefix: string, { sql, isPostgres }: Pick<Database, 'sql' | 'isPostgres'>) {
  const key = isPostgres ? sql`key collate "C"` : sql`key`;
  return sql<boolean>`${key} >= ${prefix} and ${key} < ${prefix + AFTER_KEYS}`;
}

/** @param now ISO 8601, UTC */
async function put(
  trx: Transaction<Tables>,
  { surface, key, value, expiresAt, only }: SurfaceRecordWrite,
  now: string,
  maxRecords: number,
): Promise<SetResult> {
  await lockSurface(trx, surface);
  await trx
    .deleteFrom('surface_record')
    .where('surface', '=', surface)
    .where('expires_at', '<=', now)
    .execute();
  const existing = await trx
    .selectFrom('surface_record')
    .selectAll()
    .where(({ and }) => and({ surface, key }))
    .executeTakeFirst();
  if (!isAllowed(only, existing)) return 'skipped';
  const isNew = existing === undefined;
  if (isNew && (await countRecords(trx, surface)) >= maxRecords) return 'full';
  const content = { value, expires_at: new Date(expiresAt).toISOString() };
  await trx
    .insertInto('surface_record')
    .values({ surface, key, ...content })
    .onConflict((conflict) => conflict.columns(['surface', 'key']).doUpdateSet(content))
    .execute();
  return 'set';
}

function isAllowed(
  only: SurfaceRecordWrite['only'],
  existing: Tables['surface_record'] | undefined,
): boolean {
  if (only == null) return true;
  if (only === 'absent' || only === 'present')
    return (only === 'present') === (existing !== undefined);
  return existing !== undefined && digestRevision(existing) === only.revision;
}

/** Serializes the writers of one surface, so that none exceeds the limit together with another. */
export async function lockSurface(trx: Transaction<Tables>, surface: string): Promise<void> {
  await trx
    .insertInto('surface_lock')
    .values({ surface })
    .onConflict((conflict) => conflict.column('surface').doUpdateSet({ surface }))
    .execute();
}

async function countRecords(trx: Transaction<Tables>, surface: string): Promise<number> {
  const { count } = await trx
    .selectFrom('surface_record')
    .select((table) => table.fn.countAll().as('count'))
    .where('surface', '=', surface)
    .executeTakeFirstOrThrow();
  return Number(count);
}

/** @throws StoreUnavailable for a value that is not JSON. */
function fromTable(row: Tables['surface_record']): SurfaceRecord {
  const value = parseStored(row.value, `the record '${row.key}'`);
  const expiresAt = Date.parse(row.expires_at);
  return { key: row.key, value, revision: digestRevision(row), expiresAt };
}

/** A digest of the content, so that a write by a host of any version changes it. */
function digestRevision({ value, expires_at }: Tables['surface_record']): string {
  return createHash('sha256').update(`${expires_at} ${value}`).digest('base64url');
}
