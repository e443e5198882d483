import type { CallPage, RecordedCall } from '../../operations/status/call-record.js';

const RUN = /^([0-9a-f]{8})-(\d{1,15})$/;
const SEPARATOR = '.';

/** The position of the next page in each process: `3f9a01bc-120.77e01d2a-98`. */
function formatCallCursor(ends: ReadonlyMap<string, number>): string {
  return [...ends].map(([run, end]) => `${run}-${end}`).join(SEPARATOR);
}

/** Returns an empty map for an unknown cursor. */
export function parseCallCursor(cursor: string): ReadonlyMap<string, number> {
  const ends = new Map<string, number>();
  for (const text of cursor.split(SEPARATOR)) {
    const [, run, digits] = RUN.exec(text) ?? [];
    if (run === undefined) return new Map();
    ends.set(run, Number(digits));
  }
  return ends;
}

export interface CallPart {
  /** Identifies the process. */
  readonly run: string;
  /** Whether the cursor names this process. */
  readonly isKnown: boolean;
  /** The number before which the page begins. */
  readonly end: number;
  /** Newest first, at most a page. */
  readonly calls: readonly { readonly number: number; readonly call: RecordedCall }[];
  readonly hasMore: boolean;
}

/**
 * Merges the newest calls of all parts. Each part keeps its order, even if its clock was changed.
 * @returns `null` for an unknown cursor
 */
export function createPage(read: readonly CallPart[], limit: number): CallPage | null {
  const parts = read.filter(({ isKnown }) => isKnown);
  if (parts.length === 0) return null;
  const takenCounts = new Map(parts.map((part) => [part, 0]));
  const calls: RecordedCall[] = [];
  const ends = new Map(parts.map(({ run, end }) => [run, end]));
  while (calls.length < limit) {
    const newest = findNewest(parts, takenCounts);
    if (newest === null) break;
    const { part, number, call } = newest;
    calls.push(call);
    ends.set(part.run, number);
    takenCounts.set(part, (takenCounts.get(part) ?? 0) + 1);
  }
  const isLast = parts.every(
    (part) => !part.hasMore && takenCounts.get(part) === part.calls.length,
  );
  return { calls, next: isLast ? null : formatCallCursor(ends) };
}

function findNewest(parts: readonly CallPart[], takenCounts: ReadonlyMap<CallPart, number>) {
  let newest: { part: CallPart; number: number; call: RecordedCall } | null = null;
  for (const part of parts) {
    const next = part.calls[takenCounts.get(part) ?? 0];
    if (next !== undefined && (newest === null || next.call.at > newest.call.at)) {
      newest = { part, ...next };
    }
  }
  return newest;
}
