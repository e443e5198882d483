import type { RawBuilder, Selectable, Transaction } from 'kysely';
import type { Actor } from '../../contract/index.js';
import { appendAuditRow } from '../audit-log.js';
import type { WriteAudit } from '../audit-row.js';
import { type Database, RELEASE_CHANGE, type UseDatabase } from '../database.js';
import type { ReleaseHostTable, ReleaseTable, Tables } from '../tables.js';
import type {
  Canary,
  CanaryDraft,
  CanaryVerdict,
  ChangeResult,
  Conflict,
  ReleaseDraft,
  ReleaseHost,
  ReleaseState,
  ReleaseStore,
  StoredRelease,
} from './releases.js';

/** The oldest are removed, but never the active one, its base and a canary. */
const MAX_RELEASES = 50;

const SUMMARY = [
  ...(['id', 'base', 'author_kind', 'author_id', 'created_at', 'note'] as const),
  ...(['least_version', 'files', 'bytes', 'verdict'] as const),
] as const;

/** @param notify called after each change by this process */
export function createReleaseStore(use: UseDatabase, notify: () => void): ReleaseStore {
  const change = async <T>(
    audit: WriteAudit,
    isDone: (result: T) => boolean,
    work: (trx: Transaction<Tables>, database: Database) => Promise<T>,
  ): Promise<T> => {
    const result = await use((database) =>
      database.transact(async (trx) => {
        const result = await work(trx, database);
        if (!isDone(result)) return result;
        await appendAuditRow(trx, { ...audit, outcome: 'ok', value: null }, null, database);
        await database.announce(trx, RELEASE_CHANGE);
        return result;
      }),
    );
    if (isDone(result)) notify();
    return result;
  };
  const isDone = ({ outcome }: ChangeResult) => outcome === 'done';
  return {
    readState: (fleet) => use((database) => readState(database.query, fleet, database)),
    list: (fleet) =>
      use(async ({ query }) => {
        const rows = await query
          .selectFrom('release')
          .select(SUMMARY)
          .where('fleet', '=', fleet)
          .orderBy('number', 'desc')
          .execute();
        return rows.map(fromTable);
      }),
    get: (fleet, id) =>
      use(async ({ query }) => {
        const row = await query
          .selectFrom('release')
          .select([...SUMMARY, 'content'])
          .where('fleet', '=', fleet)
          .where('id', '=', id)
          .executeTakeFirst();
        return row === undefined ? null : { ...fromTable(row), content: row.content };
      }),
    publish: (fleet, draft, canary, audit) =>
      change(audit, isDone, (trx, database) => publishIn(trx, fleet, draft, canary, database)),
    activate: (fleet, { id, instead }, audit) =>
      change(audit, isDone, async (trx, database) => {
        const state = await lockState(trx, fleet, database);
        if (state.active !== instead || state.canary !== null) return createConflict(state);
        await setState(trx, fleet, { active: id, canary: null });
        return { outcome: 'done' };
      }),
    endCanary: (fleet, release, verdict, audit) =>
      change(audit, Boolean, async (trx, database) => {
        if (!(await tryLock(trx, fleet, database))) return false;
        const { canary, active } = await lockState(trx, fleet, database);
        if (canary?.release !== release) return false;
        const isReleased = verdict.outcome === 'released';
        await setState(trx, fleet, { active: isReleased ? release : active, canary: null });
        await trx
          .updateTable('release')
          .set({ verdict: JSON.stringify(verdict) })
          .where('fleet', '=', fleet)
          .where('id', '=', release)
          .execute();
        return true;
      }),
    report: (fleet, { figures, ...host }) =>
      use(async ({ query }) => {
        const row = { ...host, figures: figures === null ? null : JSON.stringify(figures) };
        await query
          .insertInto('release_host')
          .values({ fleet, ...row })
          .onConflict((conflict) => conflict.columns(['fleet', 'host']).doUpdateSet(row))
          .execute();
      }),
    listHosts: (fleet) =>
      use(async ({ query }) => {
        const rows = await query
          .selectFrom('release_host')
          .selectAll()
          .where('fleet', '=', fleet)
          .orderBy('host')
          .execute();
        return rows.map(fromHostTable);
      }),
  };
}

type Reader = Database['query'] | Transaction<Tables>;
type SqlDialect = Pick<Database, 'sql' | 'locksRows'>;

/** The time of the store: of SQLite, the clock of the host. */
function readTime({ sql, locksRows }: SqlDialect, later = 0): RawBuilder<string> {
  if (!locksRows) return sql<string>`${new Date(Date.now() + later * 1000).toISOString()}`;
  return sql<string>`to_char(
    (clock_timestamp() + make_interval(secs => ${later})) at time zone 'utc',
    'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'
  )`;
}

async function readState(
  query: Reader,
  fleet: string,
  database: SqlDialect,
): Promise<ReleaseState> {
  const row = await query
    .selectFrom('release_state')
    .select(['active', 'canary'])
    .select(readTime(database).as('now'))
    .where('fleet', '=', fleet)
    .executeTakeFirst();
  const { active = null, canary = null, now = '' } = row ?? {};
  return { active, canary: canary === null ? null : (JSON.parse(canary) as Canary), now };
}

/** Writers of one fleet follow each other. */
async function lockState(
  trx: Transaction<Tables>,
  fleet: string,
  database: SqlDialect,
): Promise<ReleaseState> {
  await trx
    .insertInto('release_state')
    .values({ fleet, active: null, canary: null })
    .onConflict((conflict) => conflict.column('fleet').doNothing())
    .execute();
  if (database.locksRows) {
    await trx
      .selectFrom('release_state')
      .select('fleet')
      .where('fleet', '=', fleet)
      .forUpdate()
      .execute();
  }
  return readState(trx, fleet, database);
}

/** Hosts that decide at the same time do not wait for each other. */
async function tryLock(
  trx: Transaction<Tables>,
  fleet: string,
  { sql, locksRows }: SqlDialect,
): Promise<boolean> {
  if (!locksRows) return true;
  const { rows } = await sql<{ locked: boolean }>`
    select pg_try_advisory_xact_lock(
      hashtextextended(${`modgate.canary.${fleet}`}, 0)
    ) as locked
  `.execute(trx);
  return rows[0]?.locked === true;
}

function createConflict({ active, canary }: ReleaseState): Conflict {
  return { outcome: 'conflict', active, canary: canary?.release ?? null };
}

async function setState(
  trx: Transaction<Tables>,
  fleet: string,
  { active, canary }: { readonly active: string | null; readonly canary: Canary | null },
): Promise<void> {
  await trx
    .updateTable('release_state')
    .set({ active, canary: canary === null ? null : JSON.stringify(canary) })
    .where('fleet', '=', fleet)
    .execute();
}

async function publishIn(
  trx: Transaction<Tables>,
  fleet: string,
  draft: ReleaseDraft,
  canary: CanaryDraft | null,
  database: SqlDialect,
): Promise<ChangeResult> {
  const state = await lockState(trx, fleet, database);
  if (state.active !== draft.base || state.canary !== null) return createConflict(state);
  await insertRelease(trx, fleet, draft, database);
  if (canary === null) await setState(trx, fleet, { active: draft.id, canary: null });
  else {
    const { seconds, ...rest } = canary;
    const { until } = await readTimes(trx, seconds, database);
    const tried = { ...rest, release: draft.id, since: state.now, until };
    await setState(trx, fleet, { active: state.active, canary: tried });
  }
  await prune(trx, fleet, [draft.id, ...(draft.base === null ? [] : [draft.base])]);
  return { outcome: 'done' };
}

async function readTimes(
  trx: Transaction<Tables>,
  seconds: number,
  database: SqlDialect,
): Promise<{ readonly until: string }> {
  const query = database.sql<{ until: string }>`select ${readTime(database, seconds)} as until`;
  const { rows } = await query.execute(trx);
  return { until: rows[0]?.until ?? '' };
}

/** A release that was published before, such as by a canary that failed, is the same release. */
async function insertRelease(
  trx: Transaction<Tables>,
  fleet: string,
  { author, leastVersion, ...draft }: ReleaseDraft,
  database: SqlDialect,
): Promise<void> {
  const newest = await trx
    .selectFrom('release')
    .select((table) => table.fn.max('number').as('number'))
    .where('fleet', '=', fleet)
    .executeTakeFirst();
  const row = {
    ...draft,
    fleet,
    number: Number(newest?.number ?? 0) + 1,
    author_kind: author.kind,
    author_id: author.id,
    created_at: readTime(database),
    least_version: leastVersion,
    verdict: null,
  };
  await trx
    .insertInto('release')
    .values(row)
    .onConflict((conflict) => conflict.columns(['fleet', 'id']).doUpdateSet({ verdict: null }))
    .execute();
}

async function prune(
  trx: Transaction<Tables>,
  fleet: string,
  kept: readonly string[],
): Promise<void> {
  const oldest = await trx
    .selectFrom('release')
    .select('number')
    .where('fleet', '=', fleet)
    .orderBy('number', 'desc')
    .offset(MAX_RELEASES)
    .limit(1)
    .executeTakeFirst();
  if (oldest === undefined) return;
  await trx
    .deleteFrom('release')
    .where('fleet', '=', fleet)
    .where('number', '<=', oldest.number)
    .where('id', 'not in', kept)
    .execute();
}

type Summary = Pick<Selectable<ReleaseTable>, (typeof SUMMARY)[number]>;

function fromTable(row: Summary): StoredRelease {
  const { id, base, note, files, bytes, verdict } = row;
  return {
    ...{ id, base, note, files, bytes },
    author: { kind: row.author_kind as Actor['kind'], id: row.author_id },
    createdAt: row.created_at,
    leastVersion: row.least_version,
    verdict: verdict === null ? null : (JSON.parse(verdict) as CanaryVerdict),
  };
}

function fromHostTable({ host, release, problem, figures }: Selectable<ReleaseHostTable>) {
  const parsed = figures === null ? null : (JSON.parse(figures) as ReleaseHost['figures']);
  return { host, release, problem, figures: parsed };
}
