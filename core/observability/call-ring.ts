import { randomBytes } from 'node:crypto';
import type { CallPage, CallQuery, CallRecord } from '../operations/call-record.js';
import { parseCallCursor } from './call-cursor.js';
import { type CallPart, createPage } from './call-page.js';
import { captureBodies } from './capture-bodies.js';
import { describeActor, roundMs, roundMsOrNull } from './describe-ended.js';
import type { EndedRequest } from './ended-request.js';

/** Contract 9: the last 10,000 calls. */
const CAPACITY = 10_000;
/** Of captured text, in UTF-16 units: the oldest is forgotten beyond that, so that no setting fills the memory. */
const MAX_CAPTURED_LENGTH = 32 * 1024 * 1024;

/** The last calls of this process, each at a number of its own that never comes again. */
export class CallRing {
  readonly #capacity: number;
  readonly #maxCapturedLength: number;
  readonly #calls: (CallRecord | undefined)[];
  /** A cursor of an earlier process must not be taken for one of this one. */
  readonly #run = randomBytes(4).toString('hex');
  #end = 0;
  /** Calls before this one have no captured bodies any more. */
  #firstCaptured = 0;
  #capturedLength = 0;

  constructor(capacity = CAPACITY, maxCapturedLength = MAX_CAPTURED_LENGTH) {
    this.#capacity = capacity;
    this.#maxCapturedLength = maxCapturedLength;
    this.#calls = new Array<CallRecord | undefined>(capacity).fill(undefined);
  }

  /** Records a forwarded request; any other is none of ours. */
  add(ended: EndedRequest): void {
    if (!ended.trace.isForwarded) return;
    const call = createRecord(ended);
    // Where nothing was captured, the oldest call need not be looked at: it is in no cache any more.
    if (this.#capturedLength === 0) this.#firstCaptured = this.#end;
    else if (this.#end - this.#firstCaptured >= this.#capacity) this.#dropCaptured();
    this.#calls[this.#end % this.#capacity] = call;
    this.#end += 1;
    this.#capturedLength += lengthOf(call);
    while (this.#capturedLength > this.#maxCapturedLength) this.#dropCaptured();
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
      const call = this.#calls[number % this.#capacity];
      if (call === undefined) break;
      if (module !== null && call.module !== module) continue;
      if (status !== null && call.status !== status) continue;
      // Not the end of the search: the clock may have been set back in between.
      if ((since !== null && call.at < since) || call.at > until) continue;
      if (calls.length === limit) return { ...part, calls, hasMore: true };
      calls.push({ number, call });
    }
    return { ...part, calls, hasMore: false };
  }

  /** Where the next page ends: numbers are kept, however many calls have come since. */
  #findEnd(cursor: string): number | null {
    const number = parseCallCursor(cursor).get(this.#run) ?? null;
    return number !== null && number <= this.#end ? number : null;
  }

  #dropCaptured(): void {
    const call = this.#calls[this.#firstCaptured % this.#capacity];
    this.#firstCaptured += 1;
    if (call === undefined) return;
    this.#capturedLength -= lengthOf(call);
    call.captured = null;
  }
}

function createRecord(ended: EndedRequest): CallRecord {
  const { trace } = ended;
  return {
    at: Date.now(),
    requestId: ended.requestId,
    correlationId: ended.correlationId,
    traceId: trace.traceId,
    module: trace.module,
    method: ended.method,
    route: trace.route,
    status: ended.status,
    failure: trace.failure,
    actor: describeActor(ended.actor),
    durationMs: roundMs(ended.durationMs),
    providerMs: roundMsOrNull(trace.providerMs),
    attempts: trace.attempts,
    endpoint: trace.endpoint,
    captured: trace.bodies === null ? null : captureBodies(trace.bodies),
  };
}

function lengthOf({ captured }: CallRecord): number {
  return (captured?.request?.length ?? 0) + (captured?.response?.length ?? 0);
}
