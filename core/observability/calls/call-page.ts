import type { CallPage, CallRecord } from '../../operations/status/call-record.js';

const RUN = /^([0-9a-f]{8})-(\d{1,15})$/;
const SEPARATOR = '.';

/** Where the next page of each run of calls ends, by the run: `3f9a01bc-120.77e01d2a-98`. */
export function formatCallCursor(ends: ReadonlyMap<string, number>): string {
  return [...ends].map(([run, end]) => `${run}-${end}`).join(SEPARATOR);
}

/** Empty for a text that is no cursor. */
export function parseCallCursor(cursor: string): ReadonlyMap<string, number> {
  const ends = new Map<string, number>();
  for (const text of cursor.split(SEPARATOR)) {
    const [, run, digits] = RUN.exec(text) ?? [];
    if (run === undefined) return new Map();
    ends.set(run, Number(digits));
  }
  return ends;
}

/** What one process has for a page. */
export interface CallPart {
  /** Names the process: no other one has the same. */
  readonly run: string;
  /** Whether the cursor is one that names this process. */
  readonly isKnown: boolean;
  /** The number before which the page begins. */
  readonly end: number;
  /** Newest first, as many as a page may hold. */
  readonly calls: readonly { readonly number: number; readonly call: CallRecord }[];
  /** Whether more calls fit the query. */
  readonly hasMore: boolean;
}

/** The newest calls of all parts, each part in its own order whatever its clock did. */
export function createPage(parts: readonly CallPart[], limit: number): CallPage {
  const taken = new Map(parts.map((part) => [part, 0]));
  const calls: CallRecord[] = [];
  const ends = new Map(parts.map(({ run, end }) => [run, end]));
  while (calls.length < limit) {
    const newest = findNewest(parts, taken);
    if (newest === null) break;
    const { part, number, call } = newest;
    calls.push(call);
    ends.set(part.run, number);
    taken.set(part, (taken.get(part) ?? 0) + 1);
  }
  const isLast = parts.every((part) => !part.hasMore && taken.get(part) === part.calls.length);
  return { calls, next: isLast ? null : formatCallCursor(ends) };
}

function findNewest(parts: readonly CallPart[], taken: ReadonlyMap<CallPart, number>) {
  let newest: { part: CallPart; number: number; call: CallRecord } | null = null;
  for (const part of parts) {
    const next = part.calls[taken.get(part) ?? 0];
    if (next !== undefined && (newest === null || next.call.at > newest.call.at)) {
      newest = { part, ...next };
    }
  }
  return newest;
}
