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

const CAPACITY = 10_000;
/** Of captured text, in UTF-16 units; the oldest is removed beyond that, so that memory is bounded. */
const MAX_CAPTURED_LENGTH = 32 * 1024 * 1024;

/** The last calls of this process. Each has a unique, increasing number. */
export class RecentCallBuffer {
  readonly #capacity: number;
  readonly #maxCapturedLength: number;
  readonly #calls: CallTable;
  /** By the number of the call, oldest first. */
  readonly #captured = new Map<number, CapturedBodies>();
  /** Distinguishes cursors of this process from those of earlier ones. */
  readonly #run = randomBytes(4).toString('hex');
  #end = 0;
  #capturedLength = 0;

  constructor(capacity = CAPACITY, maxCapturedLength = MAX_CAPTURED_LENGTH) {
    this.#capacity = capacity;
    this.#maxCapturedLength = maxCapturedLength;
    this.#calls = new CallTable(capacity);
  }

  /** Ignores requests that were not forwarded. */
  add(completed: CompletedRequest): void {
    const { facts } = completed;
    if (!facts.isForwarded) return;
    const number = this.#end;
    this.#calls.write(number % this.#capacity, completed);
    this.#end += 1;
    if (this.#captured.size > 0) this.#remove(number - this.#capacity);
    if (facts.bodies !== null) this.#capture(number, captureBodies(facts.bodies));
  }

  /** @returns `null` for an unknown cursor */
  list(query: CallQuery): CallPage | null {
    const part = this.read(query);
    return part.isKnown ? createPage([part], query.limit) : null;
  }

  /** The part of a page from this process. */
  read(
    { module, status, since, requestId, limit, cursor }: CallQuery,
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
      if (requestId !== null && !this.#calls.hasRequestId(place, requestId)) continue;
      const at = this.#calls.at(place);
      // Continues: the clock may have been set back in between.
      if ((since !== null && at < since) || at > until) continue;
      if (calls.length === limit) return { ...part, calls, hasMore: true };
      const captured = this.#captured.get(number) ?? null;
      calls.push({ number, call: { ...this.#calls.read(place), captured } });
    }
    return { ...part, calls, hasMore: false };
  }

  /** The position of the next page: numbers do not change when calls are added. */
  #findEnd(cursor: string): number | null {
    const number = parseCallCursor(cursor).get(this.#run) ?? null;
    return number !== null && number <= this.#end ? number : null;
  }

  #capture(number: number, bodies: CapturedBodies): void {
    this.#captured.set(number, bodies);
    this.#capturedLength += lengthOf(bodies);
    for (const oldest of this.#captured.keys()) {
      if (this.#capturedLength <= this.#maxCapturedLength) break;
      this.#remove(oldest);
    }
  }

  #remove(number: number): void {
    const bodies = this.#captured.get(number);
    if (bodies === undefined) return;
    this.#captured.delete(number);
    this.#capturedLength -= lengthOf(bodies);
  }
}

function lengthOf({ request, response }: CapturedBodies): number {
  return (request?.length ?? 0) + (response?.length ?? 0);
}
