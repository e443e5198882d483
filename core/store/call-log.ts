import type { Kysely, Transaction } from 'kysely';
import {
  ALL_CALL_MEMBERS,
  CALL_FILTERS,
  CALL_MEMBERS,
  type CallFields,
  type CallFilterName,
  type CallMember,
  type EntryFields,
  REJECTION_MEMBERS,
  type Rejection,
  type StreamFields,
} from '../contract/call-record.js';
import { type Database, storeTime, type UseDatabase } from './database.js';
import { type Column, type Table, type Tables, TEXT, TEXT_OR_NULL } from './tables.js';

/** The columns of the members of a call; lists are JSON text. */
type Members = CallFields &
  StreamFields &
  EntryFields & {
    readonly [Name in keyof Rejection]: (Name extends 'errors' ? string : Rejection[Name]) | null;
  };

const COLUMN_TYPES = {
  text: 'text',
  integer: 'bigint',
  number: 'double precision',
  errors: 'text',
} as const;

function declareColumn([name, { kind, isNullable, since }]: [string, CallMember]) {
  const isOptional = isNullable || !(name in CALL_MEMBERS);
  return [
    name,
    {
      type: COLUMN_TYPES[kind],
      ...(isOptional && { isNullable: true }),
      ...(since !== undefined && { since }),
    },
  ];
}

export const CALL_TABLES = {
  /** Completed requests, without bodies. */
  call_record: {
    columns: {
      /** Sorts by time: see `callId`. */
      id: TEXT,
      ...(Object.fromEntries(Object.entries(ALL_CALL_MEMBERS).map(declareColumn)) as {
        readonly [Name in keyof Members]: Column<Members[Name]>;
      }),
      /** JSON text. */
      scopes: TEXT_OR_NULL,
    },
    primaryKey: ['id'],
    indexes: Object.fromEntries(
      CALL_FILTERS.map((name) => [
        `call_record_${name}`,
        // Most calls are not rejected.
        { on: `${name}, id`, ...(name in REJECTION_MEMBERS && { where: `${name} is not null` }) },
      ]),
    ),
  },
} satisfies Record<string, Table>;

type CallRow = Tables['call_record'];

/** One stored call; its `id` sorts by time. */
export type StoredCall = Readonly<CallRow>;

/** The members that must be equal to select a call. */
export const EQUAL_FILTERS = CALL_FILTERS.filter(
  (name): name is Exclude<CallFilterName, 'status'> => name !== 'status',
);

type EqualFilters = { readonly [Name in (typeof EQUAL_FILTERS)[number]]: CallRow[Name] | null };

/** The first and the last status: `[500, 599]`. */
export type StatusRange = readonly [number, number];

/** Which calls are read; `null` selects every call. */
export interface CallSelection extends EqualFilters {
  readonly method: string | null;
  readonly status: StatusRange | null;
  /** Milliseconds since 1970; calls that ended then or later. */
  readonly since: number | null;
  /** Milliseconds since 1970; calls that ended before. */
  readonly until: number | null;
  /** 1 to 1000. */
  readonly limit: number;
}

export interface CallFilter extends CallSelection {
  /** The id below which calls are read. */
  readonly beforeId: string | null;
}

export interface CallBounds {
  /** Keeps this many of the newest; `null`: calls are not counted, which takes 100 ns each. */
  readonly maxCalls: number | null;
  /** Removes calls that ended earlier. Milliseconds since 1970. */
  readonly since: number;
}

/** Named, since a newer modgate may have added others. */
const COLUMNS = Object.keys(CALL_TABLES.call_record.columns) as (keyof CallRow)[];
const TIME_DIGITS = 12;
const NUMBER_DIGITS = 10;
// Each number of rows needs its own prepared statement.
const ROWS_PER_STATEMENT = [50, 1] as const;
/** The share of the stored calls that requests without an actor may use. */
const ANONYMOUS_SHARE = 0.1;
/** Removed in one transaction: more would block the event loop. */
const ROWS_PER_REMOVAL = 500;

/**
 * Sorts by time, then by process, then by number. Hex digits of a fixed length sort the same in every
 * collation.
 * @param run 8 hex digits that name the process
 */
export function callId(completedAt: number, run: string, number: number): string {
  return `${hex(completedAt, TIME_DIGITS)}${run}${hex(number, NUMBER_DIGITS)}`;
}

export function createCallStore(use: UseDatabase) {
  return {
    /** Adds calls in one transaction; existing ones stay, since an unacknowledged write may be repeated. */
    append: (calls: readonly StoredCall[]): Promise<void> =>
      use(({ transact }) => transact((trx) => insertCalls(trx, calls))),
    /** Newest first. */
    read: (filter: CallFilter): Promise<readonly StoredCall[]> =>
      use(({ query }) => selectCalls(query, filter)),
    /** The store's clock, in milliseconds since 1970. */
    now: (): Promise<number> =>
      use(async (database) => {
        const select = database.query.selectNoFrom(storeTime(database).as('now'));
        return Date.parse((await select.executeTakeFirstOrThrow()).now);
      }),
    /** Removes calls beyond the bounds, in several short transactions. */
    prune: async (bounds: CallBounds): Promise<void> => {
      const cuts = await use(({ query }) => findCallCuts(query, bounds));
      const removeSome = ({ transact }: Database) => transact((trx) => removeCalls(trx, cuts));
      while (await use(removeSome));
    },
  };
}

export type CallStore = ReturnType<typeof createCallStore>;

async function insertCalls(trx: Transaction<Tables>, calls: readonly StoredCall[]): Promise<void> {
  let index = 0;
  for (const size of ROWS_PER_STATEMENT) {
    for (; calls.length - index >= size; index += size) {
      await trx
        .insertInto('call_record')
        .values(calls.slice(index, index + size))
        .onConflict((conflict) => conflict.column('id').doNothing())
        .execute();
    }
  }
}

function selectCalls(
  query: Kysely<Tables>,
  { since, until, beforeId, limit, status, method, ...filters }: CallFilter,
): Promise<StoredCall[]> {
  const equal = EQUAL_FILTERS.filter((name) => filters[name] !== null);
  const [minStatus, maxStatus] = status ?? [0, 0];
  return query
    .selectFrom('call_record')
    .select(COLUMNS)
    .where((where) => where.and(equal.map((name) => where(name, '=', filters[name]))))
    .$if(method !== null, (select) => select.where('method', '=', method ?? ''))
    .$if(status !== null, (select) =>
      select.where('status', '>=', minStatus).where('status', '<=', maxStatus),
    )
    .$if(until !== null, (select) => select.where('id', '<', hex(until ?? 0, TIME_DIGITS)))
    .$if(since !== null, (select) => select.where('id', '>=', hex(since ?? 0, TIME_DIGITS)))
    .$if(beforeId !== null, (select) => select.where('id', '<', beforeId ?? ''))
    .orderBy('id', 'desc')
    .limit(limit)
    .execute();
}

/** The ids below which calls are removed. */
interface CallCuts {
  readonly all: string;
  /**
   * The cut for requests without an actor, which anyone can send: they must not displace the
   * others.
   */
  readonly anonymous: string;
}

async function findCallCuts(
  query: Kysely<Tables>,
  { maxCalls, since }: CallBounds,
): Promise<CallCuts> {
  const tooOld = hex(since, TIME_DIGITS);
  if (maxCalls === null) return { all: tooOld, anonymous: tooOld };
  const ids = query.selectFrom('call_record').select('id').orderBy('id', 'desc').limit(1);
  // The first one beyond a maximum is removed too.
  const cutAfter = (call: { readonly id: string } | undefined) =>
    call !== undefined && `${call.id}0` > tooOld ? `${call.id}0` : tooOld;
  const share = Math.ceil(maxCalls * ANONYMOUS_SHARE);
  const isAnonymous = ids.where('actor', 'is', null);
  const anonymous = cutAfter(await isAnonymous.offset(share).executeTakeFirst());
  const remainingIds = ids.where((where) =>
    where.or([where('actor', 'is not', null), where('id', '>=', anonymous)]),
  );
  return { all: cutAfter(await remainingIds.offset(maxCalls).executeTakeFirst()), anonymous };
}

/** Removes the oldest calls below the cuts. @returns whether there may be more */
async function removeCalls(
  trx: Transaction<Tables>,
  { all, anonymous }: CallCuts,
): Promise<boolean> {
  const oldest = trx
    .selectFrom('call_record')
    .select('id')
    .where((where) =>
      where.or([
        where('id', '<', all),
        where.and([where('actor', 'is', null), where('id', '<', anonymous)]),
      ]),
    )
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
