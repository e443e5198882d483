import { randomBytes } from 'node:crypto';
import type { CallBodies } from '../../operations/request.js';
import type {
  CallPage,
  CallQuery,
  CallRecords,
  CapturedBodies,
  RecordedCall,
} from '../../operations/status/call-record.js';
import type { Processes } from '../../processes.js';
import { EQUAL_FILTERS } from '../../store/call-log.js';
import { type CallKey, type KeptCall, nameCall, readCall } from '../completed-request.js';
import { type CallPart, createPage, parseCallCursor } from './call-page.js';
import { CallTable } from './call-table.js';
import { captureBodies } from './capture-bodies.js';

const CAPACITY = 10_000;
/** Requests without an actor: anyone can send them, so they cannot displace the others. */
const ANONYMOUS_CAPACITY = 1000;
/** Captured text that is kept, in UTF-16 units. Beyond it the oldest is removed. */
const MAX_CAPTURED_LENGTH = 32 * 1024 * 1024;

/** The last calls of this process: those of actors, and beside them rejected requests without one. */
export class RecentCalls {
  readonly #known: CallRing;
  readonly #anonymous: CallRing;
  readonly #bodies: KeptBodies;

  constructor(
    capacity = CAPACITY,
    maxCapturedLength = MAX_CAPTURED_LENGTH,
    anonymousCapacity = ANONYMOUS_CAPACITY,
  ) {
    this.#bodies = new KeptBodies(maxCapturedLength);
    this.#known = new CallRing(capacity, this.#bodies);
    this.#anonymous = new CallRing(anonymousCapacity, this.#bodies);
  }

  add(call: KeptCall, bodies: CallBodies | null): void {
    (call.actor === null ? this.#anonymous : this.#known).add(call);
    if (bodies !== null) this.#bodies.add(call, captureBodies(bodies));
  }

  /** The parts of a page from this process. */
  read(query: CallQuery, now = Number.POSITIVE_INFINITY): CallPart[] {
    return [this.#known.read(query, now), this.#anonymous.read(query, now)];
  }

  /** The bodies of a call that is still in memory. */
  findBodies(call: RecordedCall): CapturedBodies | null {
    return this.#bodies.find({ ...call, at: Date.parse(call.at) });
  }
}

/** The last calls of a host, over all of its processes. */
export function shareRecentCalls(
  processes: Pick<Processes, 'share'>,
  calls: RecentCalls,
): CallRecords {
  const askAll = processes.share(
    'calls',
    ({ query, now }: { readonly query: CallQuery; readonly now: number }) => calls.read(query, now),
  );
  return {
    list: async (query): Promise<CallPage | null> => {
      // The common end of the page, because processes answer at different times.
      const { answers } = await askAll({ query, now: Date.now() });
      const parts = answers.flatMap(({ answer }) => answer);
      return createPage(parts, query.limit);
    },
  };
}

/** Each call has a unique, increasing number; the oldest is overwritten. */
class CallRing {
  readonly #capacity: number;
  readonly #bodies: KeptBodies;
  readonly #calls: CallTable;
  /** Distinguishes cursors of this ring from those of others and of earlier processes. */
  readonly #run = randomBytes(4).toString('hex');
  #end = 0;

  constructor(capacity: number, bodies: KeptBodies) {
    this.#capacity = capacity;
    this.#bodies = bodies;
    this.#calls = new CallTable(capacity);
  }

  add(call: KeptCall): void {
    const place = this.#end % this.#capacity;
    const isOverwritten = this.#end >= this.#capacity;
    if (isOverwritten && !this.#bodies.isEmpty) this.#bodies.remove(this.#calls.read(place));
    this.#calls.write(place, call);
    this.#end += 1;
  }

  read(query: CallQuery, now: number): CallPart {
    const { limit, cursor, method } = query;
    const [minStatus, maxStatus] = query.status ?? [0, Number.POSITIVE_INFINITY];
    const since = query.since ?? Number.NEGATIVE_INFINITY;
    const before = query.until ?? Number.POSITIVE_INFINITY;
    const end = cursor === null ? this.#end : this.#findEnd(cursor);
    const part = { run: this.#run, isKnown: end !== null, end: end ?? this.#end };
    const filters = EQUAL_FILTERS.filter((name) => query[name] !== null);
    const calls: { number: number; call: RecordedCall }[] = [];
    const oldest = Math.max(0, this.#end - this.#capacity);
    for (let number = (end ?? 0) - 1; number >= oldest; number -= 1) {
      const place = number % this.#capacity;
      if (filters.some((name) => this.#readMember(place, name) !== query[name])) continue;
      const status = this.#calls.get(place, 'status');
      if (status < minStatus || status > maxStatus) continue;
      if (method !== null && this.#calls.get(place, 'method') !== method) continue;
      const at = this.#calls.get(place, 'at');
      // Continues: the clock may have been set back in between.
      if (at < since || at >= before || at > now) continue;
      if (calls.length === limit) return { ...part, calls, hasMore: true };
      const call = this.#calls.read(place);
      calls.push({ number, call: { ...readCall(call), captured: this.#bodies.find(call) } });
    }
    return { ...part, calls, hasMore: false };
  }

  #readMember(place: number, name: (typeof EQUAL_FILTERS)[number]): string | null {
    if (name !== 'code' && name !== 'step') return this.#calls.get(place, name);
    return this.#calls.get(place, 'rejection')?.[name] ?? null;
  }

  /** The position of the next page: numbers do not change when calls are added. */
  #findEnd(cursor: string): number | null {
    const number = parseCallCursor(cursor).get(this.#run) ?? null;
    return number !== null && number <= this.#end ? number : null;
  }
}

/** Captured bodies of calls in memory, in the order of the calls. */
class KeptBodies {
  readonly #maxLength: number;
  readonly #byCall = new Map<string, CapturedBodies>();
  #length = 0;

  constructor(maxLength: number) {
    this.#maxLength = maxLength;
  }

  add(call: CallKey, bodies: CapturedBodies): void {
    this.remove(call);
    this.#byCall.set(nameCall(call), bodies);
    this.#length += lengthOf(bodies);
    for (const oldest of this.#byCall.keys()) {
      if (this.#length <= this.#maxLength) break;
      this.#remove(oldest);
    }
  }

  get isEmpty(): boolean {
    return this.#byCall.size === 0;
  }

  find(call: CallKey): CapturedBodies | null {
    return this.#byCall.size === 0 ? null : (this.#byCall.get(nameCall(call)) ?? null);
  }

  remove(call: CallKey): void {
    if (this.#byCall.size > 0) this.#remove(nameCall(call));
  }

  #remove(name: string): void {
    const bodies = this.#byCall.get(name);
    if (bodies === undefined) return;
    this.#byCall.delete(name);
    this.#length -= lengthOf(bodies);
  }
}

function lengthOf({ request, response }: CapturedBodies): number {
  return (request?.length ?? 0) + (response?.length ?? 0);
}
