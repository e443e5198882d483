import { randomBytes } from 'node:crypto';
import type {
  CallPage,
  CallQuery,
  CallRecord,
  CapturedBodies,
} from '../../operations/status/call-record.js';
import type { CompletedRequest } from '../completed-request.js';
import { type CallPart, createPage, parseCallCursor } from './call-page.js';
import { CallTable } from './call-table.js';
import { captureBodies } from './capture-bodies.js';

/** Contract 9: the last 10,000 calls. */
const CAPACITY = 10_000;
/** Of captured text, in UTF-16 units: the oldest is forgotten beyond that, so that no setting fills the memory. */
const MAX_CAPTURED_LENGTH = 32 * 1024 * 1024;

/** The last calls of this process, each at a number of its own that never comes again. */
export class RecentCallBuffer {
  readonly #capacity: number;
  readonly #maxCapturedLength: number;
  readonly #calls: CallTable;
  /** By the number of the call, the oldest first. */
  readonly #captured = new Map<number, CapturedBodies>();
  /** A cursor of an earlier process must not be taken for one of this one. */
  readonly #run = randomBytes(4).toString('hex');
  #end = 0;
  #capturedLength = 0;

  constructor(capacity = CAPACITY, maxCapturedLength = MAX_CAPTURED_LENGTH) {
    this.#capacity = capacity;
    this.#maxCapturedLength = maxCapturedLength;
    this.#calls = new CallTable(capacity);
  }

  /** Records a forwarded request; any other is none of ours. */
  add(ended: CompletedRequest): void {
    const { trace } = ended;
    if (!trace.isForwarded) return;
    const number = this.#end;
    this.#calls.write(number % this.#capacity, ended, Date.now());
    this.#end += 1;
    if (this.#captured.size > 0) this.#forget(number - this.#capacity);
    if (trace.bodies !== null) this.#capture(number, captureBodies(trace.bodies));
  }

  /** @returns `null` for a cursor that this process has not made. */
  list(query: CallQuery): CallPage | null {
    const part = this.read(query);
    return part.isKnown ? createPage([part], query.limit) : null;
  }

  /** What this process has for a page, and where that ends. */
  read(
    { module, status, since, limit, cursor }: CallQuery,
    until = Number.POSITIVE_INFINITY,
  ): CallPart {
    const end = cursor === null ? this.#end : this.#findEnd(cursor);
    const part = { run: this.#run, isKnown: end !== null, end: end ?? this.#end };
    const calls: { number: number; call: CallRecord }[] = [];
    const oldest = Math.max(0, this.#end - this.#capacity);
    for (let number = (end ?? 0) - 1; number >= oldest; number -= 1) {
      const place = number % this.#capacity;
      if (module !== null && this.#calls.module(place) !== module) continue;
      if (status !== null && this.#calls.status(place) !== status) continue;
      const at = this.#calls.at(place);
      // Not the end of the search: the clock may have been set back in between.
      if ((since !== null && at < since) || at > until) continue;
      if (calls.length === limit) return { ...part, calls, hasMore: true };
      const captured = this.#captured.get(number) ?? null;
      calls.push({ number, call: { ...this.#calls.read(place), captured } });
    }
    return { ...part, calls, hasMore: false };
  }

  /** Where the next page ends: numbers are kept, however many calls have come since. */
  #findEnd(cursor: string): number | null {
    const number = parseCallCursor(cursor).get(this.#run) ?? null;
    return number !== null && number <= this.#end ? number : null;
  }

  #capture(number: number, bodies: CapturedBodies): void {
    this.#captured.set(number, bodies);
    this.#capturedLength += lengthOf(bodies);
    for (const oldest of this.#captured.keys()) {
      if (this.#capturedLength <= this.#maxCapturedLength) break;
      this.#forget(oldest);
    }
  }

  #forget(number: number): void {
    const bodies = this.#captured.get(number);
    if (bodies === undefined) return;
    this.#captured.delete(number);
    this.#capturedLength -= lengthOf(bodies);
  }
}

function lengthOf({ request, response }: CapturedBodies): number {
  return (request?.length ?? 0) + (response?.length ?? 0);
}
