import type { Kysely, Transaction } from 'kysely';
import type { CallTable, Tables } from './tables.js';

/** One stored call; its `id` sorts by time. */
export type StoredCall = Readonly<CallTable>;

export interface CallFilter {
  readonly module: string | null;
  readonly status: number | null;
  /** Milliseconds since 1970. */
  readonly since: number | null;
  readonly requestId: string | null;
  /** Only calls with a smaller id. */
  readonly beforeId: string | null;
  readonly limit: number;
}

export interface CallBounds {
  /** Keeps this many of the newest; `null`: calls are not counted, which takes 100 ns each. */
  readonly maxCalls: number | null;
  /** Removes calls that ended earlier. Milliseconds since 1970. */
  readonly since: number;
}

const TIME_DIGITS = 12;
const NUMBER_DIGITS = 10;
// Each number of rows needs its own prepared statement.
const ROWS_PER_STATEMENT = [50, 1] as const;
/** Removed in one transaction: more would block the event loop. */
const ROWS_PER_REMOVAL = 500;

/**
 * Sorts by time, then by process, then by number. Hex digits of a fixed length sort the same in every
 * collation.
 * @param run 8 hex digits that name the process
 */
export function callId(at: number, run: string, number: number): string {
  return `${hex(at, TIME_DIGITS)}${run}${hex(number, NUMBER_DIGITS)}`;
}

/** Adds calls; existing ones stay, since an unacknowledged write may be repeated. */
export async function insertCalls(
  trx: Transaction<Tables>,
  calls: readonly StoredCall[],
): Promise<void> {
  let at = 0;
  for (const size of ROWS_PER_STATEMENT) {
    for (; calls.length - at >= size; at += size) {
      await trx
        .insertInto('call_record')
        .values(calls.slice(at, at + size))
        .onConflict((conflict) => conflict.column('id').doNothing())
        .execute();
    }
  }
}

/** Newest first. */
export function selectCalls(
  query: Kysely<Tables>,
  { module, status, since, requestId, beforeId, limit }: CallFilter,
): Promise<StoredCall[]> {
  return query
    .selectFrom('call_record')
    .selectAll()
    .$if(module !== null, (select) => select.where('module', '=', module))
    .$if(status !== null, (select) => select.where('status', '=', status ?? 0))
    .$if(requestId !== null, (select) => select.where('request_id', '=', requestId ?? ''))
    .$if(since !== null, (select) => select.where('id', '>=', hex(since ?? 0, TIME_DIGITS)))
    .$if(beforeId !== null, (select) => select.where('id', '<', beforeId ?? ''))
    .orderBy('id', 'desc')
    .limit(limit)
    .execute();
}

/** The id below which calls are removed. */
export async function findCallBound(
  query: Kysely<Tables>,
  { maxCalls, since }: CallBounds,
): Promise<string> {
  const tooOld = hex(since, TIME_DIGITS);
  if (maxCalls === null) return tooOld;
  const tooMany = await query
    .selectFrom('call_record')
    .select('id')
    .orderBy('id', 'desc')
    .offset(maxCalls)
    .limit(1)
    .executeTakeFirst();
  // The first one beyond the maximum is removed too.
  const bound = tooMany === undefined ? tooOld : `${tooMany.id}0`;
  return bound > tooOld ? bound : tooOld;
}

/** Removes the oldest calls below the bound. @returns whether there may be more */
export async function removeCalls(trx: Transaction<Tables>, bound: string): Promise<boolean> {
  const oldest = trx
    .selectFrom('call_record')
    .select('id')
    .where('id', '<', bound)
    .orderBy('id')
    .limit(ROWS_PER_REMOVAL);
  const { numDeletedRows } = await trx
    .deleteFrom('call_record')
    .where('id', 'in', oldest)
    .executeTakeFirstOrThrow();
  return Number(numDeletedRows) === ROWS_PER_REMOVAL;
}

function hex(value: number, digits: number): string {
  return Math.max(0, Math.floor(value)).toString(16).padStart(digits, '0');
}
