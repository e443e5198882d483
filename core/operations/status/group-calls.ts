import { array, boolean, type Infer, nullable, number, optional, string, type } from 'superstruct';
import { member } from '../../contract/members.js';
import { nextTurn } from '../../lib/slices.js';
import { defineListing } from '../listing.js';
import type { CallPage, CallQuery, RecordedCall } from './call-record.js';

export const GROUP_KEYS = ['actor', 'module', 'route', 'status'] as const;
export type GroupKey = (typeof GROUP_KEYS)[number];

/** Calls read at once. */
const PAGE = 1000;
/** Only the newest calls are counted. */
const MAX_CALLS = 200_000;
const MAX_GROUPS = 10_000;

const duration = type({ p50: number(), p95: number() });

const callGroup = type({
  actor: member(optional(nullable(string())), 'with `by=actor`'),
  module: member(optional(nullable(string())), 'with `by=module`'),
  route: member(optional(nullable(string())), 'with `by=route`: `GET /items/{id}`'),
  status: member(optional(number()), 'with `by=status`'),
  calls: member(number(), 'how many there were'),
  failed: member(number(), 'those that failed, as in `GET /modules`'),
  bytes_in: member(number(), 'of streamed request bodies'),
  bytes_out: member(number(), 'of streamed response bodies'),
  duration_ms: member(duration, 'the median and the 95th percentile'),
});

type CallGroup = Infer<typeof callGroup>;

/** The response to `GET /calls?by=`. */
export const callGroups = type({
  groups: member(array(callGroup), 'most calls first, at most `limit`'),
  truncated: member(
    boolean(),
    'whether there are more groups, or more than the 200,000 newest calls that are counted',
  ),
});

export const CALL_GROUPS = defineListing({
  struct: callGroups,
  rows: 'groups',
  title: 'Calls, counted',
  empty: 'No calls',
  columns: {
    actor: { title: 'Actor', isSparse: true },
    module: { title: 'Module', isSparse: true },
    route: { title: 'Route', isSparse: true },
    status: { title: 'Status', as: 'status', isSparse: true },
    calls: { title: 'Calls', as: 'number' },
    failed: { title: 'Failed', as: 'number' },
    bytes_in: { title: 'Bytes in', as: 'number', isMinor: true },
    bytes_out: { title: 'Bytes out', as: 'number', isMinor: true },
    'duration_ms.p50': { title: 'p50', as: 'ms', isMinor: true },
    'duration_ms.p95': { title: 'p95', as: 'ms', isMinor: true },
  },
  linesAfter: ({ truncated }) =>
    truncated
      ? ['there are more: select fewer calls with --since, --module or another filter']
      : [],
});

interface Counted {
  readonly keys: Pick<CallGroup, GroupKey>;
  readonly durations: number[];
  failed: number;
  bytesIn: number;
  bytesOut: number;
}

/** Counts the calls that a query selects, newest first. */
export async function groupCalls(
  readPage: (query: CallQuery) => Promise<CallPage | null>,
  { limit, ...query }: CallQuery,
  by: readonly GroupKey[],
): Promise<Infer<typeof callGroups>> {
  const groups = new Map<string, Counted>();
  let counted = 0;
  let cursor: string | null = null;
  let isWhole = true;
  do {
    const page: CallPage | null = await readPage({ ...query, cursor, limit: PAGE });
    for (const call of page?.calls ?? []) isWhole = count(groups, call, by) && isWhole;
    cursor = page?.next ?? null;
    counted += PAGE;
    await nextTurn();
  } while (cursor !== null && counted < MAX_CALLS);
  const sorted = [...groups.values()].sort((a, b) => b.durations.length - a.durations.length);
  return {
    groups: sorted.slice(0, limit).map(describe),
    truncated: !isWhole || cursor !== null || sorted.length > limit,
  };
}

/** @returns whether there was room for its group */
function count(groups: Map<string, Counted>, call: RecordedCall, by: readonly GroupKey[]): boolean {
  const keys = Object.fromEntries(by.map((key) => [key, readKey(call, key)]));
  const id = JSON.stringify(keys);
  let group = groups.get(id);
  if (group === undefined) {
    if (groups.size === MAX_GROUPS) return false;
    group = { keys, durations: [], failed: 0, bytesIn: 0, bytesOut: 0 };
    groups.set(id, group);
  }
  group.durations.push(call.duration_ms);
  if (isFailed(call)) group.failed += 1;
  group.bytesIn += call.bytes_in ?? 0;
  group.bytesOut += call.bytes_out ?? 0;
  return true;
}

function readKey(call: RecordedCall, key: GroupKey): string | number | null {
  if (key !== 'route') return call[key];
  return call.route === null ? null : `${call.method} ${call.route}`;
}

/** A status of 500 or more that raw mode forwards has no `failure` and no rejection. */
function isFailed({ failure, status, rejection }: RecordedCall): boolean {
  if (failure !== null) return failure !== 'cancelled';
  return status >= 500 && rejection === null;
}

function describe({ keys, durations, failed, bytesIn, bytesOut }: Counted): CallGroup {
  const sorted = Float64Array.from(durations).sort();
  const at = (share: number) => sorted[Math.ceil(sorted.length * share) - 1] ?? 0;
  return {
    ...keys,
    calls: durations.length,
    failed,
    bytes_in: bytesIn,
    bytes_out: bytesOut,
    duration_ms: { p50: at(0.5), p95: at(0.95) },
  };
}
