import type { Kysely, Transaction } from 'kysely';
import { nextTurn } from '../../lib/slices.js';
import { appendAuditRow } from '../audit-log.js';
import type { WriteAudit } from '../audit-row.js';
import { writeStoredPlace } from '../config-values.js';
import {
  type Database,
  RELEASE_CHANGE,
  type ReadableDatabase,
  storeTime,
  type UseDatabase,
} from '../database.js';
import { parseStored } from '../parse-stored.js';
import type { Tables } from '../tables.js';
import { countParts, insertPart, readPart, removeUnusedPart } from './release-parts.js';
import type {
  Canary,
  CanaryDraft,
  CanaryVerdict,
  ChangeResult,
  Conflict,
  ReleaseDraft,
  ReleaseHost,
  ReleaseState,
  StoredRelease,
} from './releases.js';

/** The oldest are removed, but never the active one, its base and a canary. */
const MAX_RELEASES = 50;

/** In the order in which a release is shown. */
const SUMMARY = [
  ...(['id', 'base', 'author_kind', 'author_id', 'note'] as const),
  ...(['created_at', 'least_version', 'files', 'bytes', 'verdict'] as const),
] as const;

/**
 * Releases by fleet; hosts without one have the fleet `''`.
 * @param notify called after each change by this process
 */
export function createReleaseStore(use: UseDatabase, notify: () => void) {
  const change = async <T>(
    audit: WriteAudit | ((result: T) => WriteAudit),
    isDone: (result: T) => boolean,
    work: (trx: Transaction<Tables>, database: Database) => Promise<T>,
  ): Promise<T> => {
    const result = await use((database) =>
      database.transact(async (trx) => {
        const result = await work(trx, database);
        if (!isDone(result)) return result;
        const row = typeof audit === 'function' ? audit(result) : audit;
        await appendAuditRow(trx, { ...row, outcome: 'ok', value: null }, null);
        await database.announce(trx, RELEASE_CHANGE);
        return result;
      }),
    );
    if (isDone(result)) notify();
    return result;
  };
  const isDone = ({ outcome }: PublishResult) => outcome === 'done';
  return {
    readState: (fleet: string) => use((database) => readState(database.query, fleet, database)),
    ...createReleaseReader(use),
    /**
     * Stores a release that was made from the active one, and makes it active or a canary.
     * @param places where the active release delivers stored secrets, by module: digests. Default: unknown
     */
    publish: async (
      fleet: string,
      draft: ReleaseDraft,
      canary: CanaryDraft | null,
      audit: WriteAudit,
      places?: Places,
    ): Promise<ChangeResult> => {
      for (;;) {
        await writeParts(use, fleet, draft);
        const result = await change(audit, isDone, async (trx, database) => {
          const result = await publishIn(trx, fleet, draft, canary, database);
          if (isDone(result) && canary === null) await writePlaces(trx, places);
          return result;
        });
        if (result.outcome === 'incomplete') continue;
        // The publish is stored; what is left is removed after the next one.
        if (isDone(result)) await removeUnusedParts(use, fleet).catch(() => {});
        return result;
      }
    },
    /** Makes a stored release active instead of another one, without a canary. */
    activate: (
      fleet: string,
      { id, instead }: { readonly id: string; readonly instead: string | null },
      audit: WriteAudit,
      places?: Places,
    ): Promise<ChangeResult> =>
      change(audit, isDone, async (trx, database) => {
        const state = await lockState(trx, fleet, database);
        if (state.active !== instead || state.canary !== null) return createConflict(state);
        await setState(trx, fleet, { active: id, canary: null });
        await writePlaces(trx, places);
        return { outcome: 'done' };
      }),
    /**
     * Ends a canary once, under an advisory lock.
     * @param decide called with what the store has under the lock
     * @returns the verdict, if it was this one that ended it
     */
    endCanary: (
      fleet: string,
      release: string,
      decide: DecideCanary,
      audit: (verdict: CanaryVerdict | null) => WriteAudit,
    ): Promise<CanaryVerdict | null> =>
      change(audit, Boolean, async (trx, database) => {
        if (!(await tryLock(trx, fleet, database))) return null;
        const { canary, active, now } = await lockState(trx, fleet, database);
        if (canary?.release !== release) return null;
        const verdict = decide(canary, await listHosts(trx, fleet), now);
        if (verdict === null) return null;
        const isReleased = verdict.outcome === 'released';
        await setState(trx, fleet, { active: isReleased ? release : active, canary: null });
        await trx
          .updateTable('release')
          .set({ verdict: JSON.stringify(verdict) })
          .where(({ and }) => and({ fleet, id: release }))
          .execute();
        return verdict;
      }),
    report: (fleet: string, { figures, ...host }: ReleaseHost): Promise<void> =>
      use(async ({ transact }) => {
        const row = { ...host, figures: figures === null ? null : JSON.stringify(figures) };
        await transact((trx) =>
          trx
            .insertInto('release_host')
            .values({ fleet, ...row })
            .onConflict((conflict) => conflict.columns(['fleet', 'host']).doUpdateSet(row))
            .execute(),
        );
      }),
    listHosts: (fleet: string): Promise<readonly ReleaseHost[]> =>
      use(({ query }) => listHosts(query, fleet)),
  };
}

/** What can be read of a store that a host may be using. */
export function createReleaseReader(use: UseDatabase<ReadableDatabase>) {
  return {
    /** The active release; `null` without one. */
    readActive: (fleet: string): Promise<string | null> =>
      use(async ({ query }) => {
        const row = await query
          .selectFrom('release_state')
          .select('active')
          .where('fleet', '=', fleet)
          .executeTakeFirst();
        return row?.active ?? null;
      }),
    /** Newest first. */
    list: (fleet: string): Promise<readonly StoredRelease[]> =>
      use(async ({ query }) => {
        const rows = await query
          .selectFrom('release')
          .select(SUMMARY)
          .where('fleet', '=', fleet)
          .orderBy('number', 'desc')
          .execute();
        return rows.map(fromTable);
      }),
    get: (fleet: string, id: string): Promise<StoredRelease | null> =>
      use(async ({ query }) => {
        const row = await query
          .selectFrom('release')
          .select(SUMMARY)
          .where(({ and }) => and({ fleet, id }))
          .executeTakeFirst();
        return row === undefined ? null : fromTable(row);
      }),
    /** The parts of the files, in order. None, or not all, if the release is removed meanwhile. */
    readParts: async function* (fleet: string, release: string) {
      for (let number = 0; ; number += 1) {
        const part = await use(({ query }) => readPart(query, { fleet, release }, number));
        if (part === null) return;
        yield part;
        await nextTurn();
      }
    },
  };
}

export type ReleaseStore = ReturnType<typeof createReleaseStore>;

type Places = ReadonlyMap<string, string>;

/** @returns `null` while it is undecided */
type DecideCanary = (
  canary: Canary,
  reports: readonly ReleaseHost[],
  now: string,
) => CanaryVerdict | null;

/** `incomplete`: another process has removed some parts, because they were of no release yet. */
type PublishResult = ChangeResult | { readonly outcome: 'incomplete' };

type SqlDialect = Pick<Database, 'sql' | 'isPostgres'>;

async function readState(
  query: Kysely<Tables>,
  fleet: string,
  database: SqlDialect,
): Promise<ReleaseState> {
  const row = await query
    .selectFrom('release_state')
    .select(['active', 'canary', storeTime(database).as('now')])
    .where('fleet', '=', fleet)
    .executeTakeFirst();
  const { active = null, canary = null, now = '' } = row ?? {};
  return {
    active,
    canary: canary === null ? null : (parseStored(canary, 'the canary of the fleet') as Canary),
    now,
  };
}

async function listHosts(query: Kysely<Tables>, fleet: string): Promise<readonly ReleaseHost[]> {
  const rows = await query
    .selectFrom('release_host')
    .selectAll()
    .where('fleet', '=', fleet)
    .orderBy('host')
    .execute();
  return rows.map(fromHostTable);
}

/** Writers of one fleet follow each other. */
async function lockState(
  trx: Transaction<Tables>,
  fleet: string,
  database: SqlDialect,
): Promise<ReleaseState> {
  await trx
    .insertInto('release_state')
    .values({ fleet })
    .onConflict((conflict) => conflict.column('fleet').doUpdateSet({ fleet }))
    .execute();
  return readState(trx, fleet, database);
}

/** Hosts that decide at the same time do not wait for each other. */
async function tryLock(
  trx: Transaction<Tables>,
  fleet: string,
  { sql, isPostgres }: SqlDialect,
): Promise<boolean> {
  if (!isPostgres) return true;
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

async function writePlaces(trx: Transaction<Tables>, places: Places = new Map()): Promise<void> {
  for (const [module, place] of places) await writeStoredPlace(trx, module, place);
}

async function publishIn(
  trx: Transaction<Tables>,
  fleet: string,
  draft: ReleaseDraft,
  canary: CanaryDraft | null,
  database: SqlDialect,
): Promise<PublishResult> {
  const state = await lockState(trx, fleet, database);
  if (state.active !== draft.base || state.canary !== null) return createConflict(state);
  const parts = await countParts(trx, { fleet, release: draft.id });
  if (parts !== draft.parts.length) return { outcome: 'incomplete' };
  await insertRelease(trx, fleet, draft, database);
  if (canary === null) await setState(trx, fleet, { active: draft.id, canary: null });
  else {
    const { seconds, ...rest } = canary;
    const until = new Date(Date.parse(state.now) + seconds * 1000).toISOString();
    const tried = { ...rest, release: draft.id, since: state.now, until };
    await setState(trx, fleet, { active: state.active, canary: tried });
  }
  await prune(trx, fleet, [draft.id, ...(draft.base === null ? [] : [draft.base])]);
  return { outcome: 'done' };
}

/** Each part is a transaction of its own, so that other uses of the store do not wait for all. */
async function writeParts(
  use: UseDatabase,
  fleet: string,
  { id, parts }: ReleaseDraft,
): Promise<void> {
  const of = { fleet, release: id };
  for (const [number, part] of parts.entries()) {
    await use(({ transact }) => transact((trx) => insertPart(trx, of, number, part)));
  }
}

/** One part in each transaction, for the same reason. */
async function removeUnusedParts(use: UseDatabase, fleet: string): Promise<void> {
  const removeOne = (database: Database) =>
    database.transact(async (trx) => {
      // Another publish of the same release must not begin to use the part meanwhile.
      await lockState(trx, fleet, database);
      return removeUnusedPart(trx, fleet);
    });
  while (await use(removeOne));
}

/** A release that was published before, such as by a canary that failed, replaces the earlier one. */
async function insertRelease(
  trx: Transaction<Tables>,
  fleet: string,
  { parts, ...draft }: ReleaseDraft,
  database: SqlDialect,
): Promise<void> {
  const newest = await trx
    .selectFrom('release')
    .select((table) => table.fn.max('number').as('number'))
    .where('fleet', '=', fleet)
    .executeTakeFirst();
  const number = Number(newest?.number ?? 0) + 1;
  const row = { ...draft, fleet, number, created_at: storeTime(database), verdict: null };
  await trx
    .insertInto('release')
    .values(row)
    .onConflict((conflict) => conflict.columns(['fleet', 'id']).doUpdateSet(row))
    .execute();
}

async function prune(
  trx: Transaction<Tables>,
  fleet: string,
  kept: readonly string[],
): Promise<void> {
  const oldest = trx
    .selectFrom('release')
    .select('number')
    .where('fleet', '=', fleet)
    .orderBy('number', 'desc')
    .offset(MAX_RELEASES)
    .limit(1);
  await trx
    .deleteFrom('release')
    .where('fleet', '=', fleet)
    .where('number', '<=', oldest)
    .where('id', 'not in', kept)
    .execute();
}

function fromTable({ verdict, ...row }: Pick<Tables['release'], (typeof SUMMARY)[number]>) {
  const parsed = verdict === null ? null : parseStored(verdict, `the verdict of '${row.id}'`);
  return { ...row, verdict: parsed as CanaryVerdict | null };
}

function fromHostTable({ host, release, problem, figures }: Tables['release_host']) {
  const parsed = figures === null ? null : parseStored(figures, `the report of host '${host}'`);
  return { host, release, problem, figures: parsed as ReleaseHost['figures'] };
}
