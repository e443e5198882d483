import { randomBytes } from 'node:crypto';
import type { Log } from '../../contract/index.js';
import { settleWithin } from '../../lib/promises.js';
import type { CallPage, CallQuery, CallRecord } from '../../operations/status/call-record.js';
import { callId } from '../../store/call-log.js';
import { type Store, type StoredCall, StoreUnavailable } from '../../store/store.js';
import {
  type CompletedRequest,
  describeActor,
  roundMs,
  roundMsOrNull,
} from '../completed-request.js';

export interface StoredCallsOptions {
  readonly store: Pick<Store, 'appendCalls' | 'readCalls' | 'pruneCalls'>;
  /** Kept at most; the oldest go. */
  readonly maxCalls: number;
  /** Kept for so long. Hours. */
  readonly maxHours: number;
  readonly log: Log;
}

/** After a call has ended, at most. Milliseconds. */
const WRITE_INTERVAL_MS = 500;
/** SQLite is called synchronously: so many rows hold the event loop for as long as the disk takes to sync. */
const MAX_BATCH = 100;
/** Calls that wait for a store that is away; more are not kept. */
const MAX_WAITING = 20_000;
const PRUNE_INTERVAL_MS = 60_000;
/** Of the calls that are kept: they are counted anew after so many more, and at least 100. */
const PRUNE_SHARE = 0.1;
const LEAST_PRUNED = 100;
const WARN_INTERVAL_MS = 60_000;
const CLOSE_TIMEOUT_MS = 2000;
const MS_PER_HOUR = 3_600_000;
const CURSOR = /^[0-9a-f]{30}$/;

/**
 * Calls in the store, for longer than the process lives and beyond the ring, without captured bodies.
 * Written in batches, by itself: no request waits for it, and a store that is away costs records alone.
 */
export class StoredCalls {
  readonly #options: StoredCallsOptions;
  readonly #run = randomBytes(4).toString('hex');
  #number = 0;
  #waiting: StoredCall[] = [];
  #writing: Promise<void> | null = null;
  #timer: NodeJS.Timeout | undefined;
  #prunedAt = Number.NEGATIVE_INFINITY;
  /** Calls that were written since they were counted; the first time that is not known. */
  #uncounted = Number.POSITIVE_INFINITY;
  #lost = 0;
  #warnedAt = Number.NEGATIVE_INFINITY;

  constructor(options: StoredCallsOptions) {
    this.#options = options;
  }

  /** Takes a forwarded request; any other is none of ours. */
  add(ended: CompletedRequest): void {
    if (!ended.trace.isForwarded) return;
    if (this.#waiting.length >= MAX_WAITING) {
      this.#lost += 1;
      return;
    }
    this.#number += 1;
    this.#waiting.push(createStoredCall(ended, this.#run, this.#number));
    this.#timer ??= setTimeout(() => void this.#writeSoon(), WRITE_INTERVAL_MS).unref();
  }

  /**
   * What has ended before is in it, as far as this process knows.
   * @returns `null` for a cursor that is none.
   * @throws StoreUnavailable
   */
  async list(query: CallQuery): Promise<CallPage | null> {
    if (query.cursor !== null && !CURSOR.test(query.cursor)) return null;
    await this.#write();
    const { module, status, since, limit, cursor: beforeId } = query;
    const filter = { module, status, since, beforeId, limit: limit + 1 };
    const found = await this.#options.store.readCalls(filter);
    const calls = found.slice(0, limit);
    const next = found.length > limit ? (calls.at(-1)?.id ?? null) : null;
    return { calls: calls.map(createRecord), next };
  }

  /** Writes what is left, as far as that is possible in two seconds. Never throws. */
  async close(): Promise<void> {
    clearTimeout(this.#timer);
    await settleWithin(this.#write(), CLOSE_TIMEOUT_MS);
  }

  /** Never throws: what could not be written is tried again with what comes next. */
  async #writeSoon(): Promise<void> {
    this.#timer = undefined;
    try {
      await this.#write();
      await this.#prune();
    } catch (error) {
      if (error instanceof StoreUnavailable) this.#warn(error.message);
      else this.#options.log.error({ err: error }, 'calls cannot be kept in the store');
    }
    if (this.#lost > 0) this.#warn('the store is too slow');
    if (this.#waiting.length > 0) {
      this.#timer ??= setTimeout(() => void this.#writeSoon(), WRITE_INTERVAL_MS).unref();
    }
  }

  /** One writer at a time; resolves when all that waited at the call has been written. */
  #write(): Promise<void> {
    const before = this.#writing ?? Promise.resolve();
    const writing = before
      .catch(() => {})
      .then(() => this.#writeWaiting())
      .finally(() => {
        if (this.#writing === writing) this.#writing = null;
      });
    this.#writing = writing;
    return writing;
  }

  /** @throws StoreUnavailable: then everything that was not written still waits. */
  async #writeWaiting(): Promise<void> {
    const { store } = this.#options;
    // Not what comes meanwhile: under load that would never end.
    for (let left = this.#waiting.length; left > 0; left -= MAX_BATCH) {
      const batch = this.#waiting.slice(0, Math.min(left, MAX_BATCH));
      try {
        await store.appendCalls(batch);
      } catch (error) {
        // What the store refuses for another reason it would refuse for ever.
        if (error instanceof StoreUnavailable) throw error;
        this.#waiting.splice(0, batch.length);
        throw error;
      }
      this.#waiting.splice(0, batch.length);
      this.#uncounted += batch.length;
    }
  }

  async #prune(): Promise<void> {
    const { store, maxCalls, maxHours } = this.#options;
    const now = performance.now();
    const isCount = this.#uncounted >= Math.max(LEAST_PRUNED, maxCalls * PRUNE_SHARE);
    if (!isCount && now - this.#prunedAt < PRUNE_INTERVAL_MS) return;
    this.#prunedAt = now;
    if (isCount) this.#uncounted = 0;
    const since = Date.now() - maxHours * MS_PER_HOUR;
    await store.pruneCalls({ maxCalls: isCount ? maxCalls : null, since });
  }

  /** Once in a while: a full disk is full for long. */
  #warn(reason: string): void {
    const now = performance.now();
    if (now - this.#warnedAt < WARN_INTERVAL_MS) return;
    const fields = { reason, waiting: this.#waiting.length, lost: this.#lost };
    this.#options.log.warn(fields, 'calls are not kept in the store');
    this.#warnedAt = now;
    this.#lost = 0;
  }
}

function createStoredCall(ended: CompletedRequest, run: string, number: number): StoredCall {
  const { trace } = ended;
  const at = Date.now();
  return {
    id: callId(at, run, number),
    at: new Date(at).toISOString(),
    request_id: ended.requestId,
    correlation_id: ended.correlationId,
    trace_id: trace.traceId,
    module: trace.module,
    method: ended.method,
    route: trace.route,
    status: ended.status,
    failure: trace.failure,
    actor: describeActor(ended.actor),
    duration_ms: roundMs(ended.durationMs),
    provider_ms: roundMsOrNull(trace.providerMs),
    attempts: trace.attempts,
    endpoint: trace.endpoint,
  };
}

function createRecord(stored: StoredCall): CallRecord {
  return {
    at: Date.parse(stored.at),
    requestId: stored.request_id,
    correlationId: stored.correlation_id,
    traceId: stored.trace_id,
    module: stored.module,
    method: stored.method,
    route: stored.route,
    status: stored.status,
    failure: stored.failure,
    actor: stored.actor,
    durationMs: stored.duration_ms,
    providerMs: stored.provider_ms,
    attempts: stored.attempts,
    endpoint: stored.endpoint,
    captured: null,
  };
}
