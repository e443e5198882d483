import { randomBytes } from 'node:crypto';
import { REJECTION_MEMBERS, type Rejection } from '../../contract/call-record.js';
import type { Log } from '../../contract/index.js';
import { createNulls } from '../../lib/fixed-shape.js';
import { settleWithin } from '../../lib/promises.js';
import { createLogInterval } from '../../log/log-interval.js';
import type { CallPage, CallQuery, RecordedCall } from '../../operations/status/call-record.js';
import { type CallFilter, type CallStore, callId, type StoredCall } from '../../store/call-log.js';
import { StoreUnavailable } from '../../store/store-unavailable.js';
import { type KeptCall, readCall } from '../completed-request.js';

const REJECTION_NAMES = Object.keys(REJECTION_MEMBERS) as (keyof Rejection)[];
const NO_REJECTION = createNulls(REJECTION_NAMES);

interface StoredCallsOptions {
  readonly store: CallStore;
  /** The oldest calls beyond this are removed. */
  readonly maxCalls: number;
  readonly maxHours: number;
  readonly log: Log;
}

/** Longest delay of a write. */
const WRITE_INTERVAL_MS = 500;
/** SQLite is synchronous: a batch blocks the event loop about as long as the sync of the disk. */
const MAX_BATCH = 100;
/** The maximum of waiting calls while the store is unavailable. Further calls are dropped. */
const MAX_WAITING = 20_000;
/** Reads at the same time; they wait for a write of all calls before them. */
const MAX_READS = 256;
const PRUNE_INTERVAL_MS = 60_000;
/** Stored calls are counted again after this share of the maximum was added, and at least 100. */
const PRUNE_SHARE = 0.1;
const MIN_PRUNED = 100;
const WARN_INTERVAL_MS = 60_000;
const CLOSE_TIMEOUT_MS = 2000;
const MS_PER_HOUR = 3_600_000;
const CURSOR = /^[0-9a-f]{30}$/;

/**
 * Calls in the store: more than memory holds, and beyond a restart, without captured bodies. Written in
 * batches in the background: requests do not wait, and an unavailable store only loses records.
 */
export class StoredCalls {
  readonly #options: StoredCallsOptions;
  readonly #run = randomBytes(4).toString('hex');
  #number = 0;
  #waiting: StoredCall[] = [];
  #writing: Promise<void> | null = null;
  #timer: NodeJS.Timeout | undefined;
  #prunedAt = Number.NEGATIVE_INFINITY;
  /** Calls that were written since the last count; unknown at first. */
  #uncounted = Number.POSITIVE_INFINITY;
  #lost = 0;
  /** Reads that wait for a write or for the store. */
  #reads = 0;
  readonly #mayWarn = createLogInterval(WARN_INTERVAL_MS);

  constructor(options: StoredCallsOptions) {
    this.#options = options;
  }

  add(call: KeptCall): void {
    if (this.#waiting.length >= MAX_WAITING) {
      this.#lost += 1;
      return;
    }
    this.#number += 1;
    const id = callId(call.at, this.#run, this.#number);
    this.#waiting.push(toRow(readCall(call), id));
    this.#timer ??= setTimeout(() => void this.#writeSoon(), WRITE_INTERVAL_MS).unref();
  }

  /**
   * Includes all calls that this process has completed.
   * @returns `null` for an unknown cursor
   * @throws StoreUnavailable
   */
  async list(query: CallQuery): Promise<CallPage | null> {
    if (query.cursor !== null && !CURSOR.test(query.cursor)) return null;
    const { limit, cursor: beforeId, ...filters } = query;
    const storedCalls = await this.#read({ ...filters, beforeId, limit: limit + 1 });
    const calls = storedCalls.slice(0, limit);
    const next = storedCalls.length > limit ? (calls.at(-1)?.id ?? null) : null;
    return { calls: calls.map(fromRow), next };
  }

  /** @throws StoreUnavailable, also when too many reads wait. */
  async #read(filter: CallFilter): Promise<readonly StoredCall[]> {
    if (this.#reads >= MAX_READS) throw new StoreUnavailable('busy');
    this.#reads += 1;
    try {
      await this.#write();
      return await this.#options.store.read(filter);
    } finally {
      this.#reads -= 1;
    }
  }

  /** Writes waiting calls, for at most two seconds. Never throws. */
  async close(): Promise<void> {
    clearTimeout(this.#timer);
    await settleWithin(this.#write(), CLOSE_TIMEOUT_MS);
    const lost = this.#lost + this.#waiting.length;
    if (lost > 0) this.#options.log.warn({ reason: 'the host stops', lost }, 'calls not stored');
  }

  /** Never throws: calls are retried with the next batch while the store is unavailable. */
  async #writeSoon(): Promise<void> {
    this.#timer = undefined;
    try {
      await this.#write();
      await this.#prune();
    } catch (error) {
      if (error instanceof StoreUnavailable) this.#warn(error.message);
      else this.#options.log.error({ err: error }, 'removing old calls failed');
    }
    if (this.#lost > 0) this.#warn('the store is too slow');
    if (this.#waiting.length > 0) {
      this.#timer ??= setTimeout(() => void this.#writeSoon(), WRITE_INTERVAL_MS).unref();
    }
  }

  /** Serializes writes. Resolves when all calls that are waiting now are written. */
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

  /** @throws StoreUnavailable: unwritten calls then stay in the queue. */
  async #writeWaiting(): Promise<void> {
    const rejections: unknown[] = [];
    // Excludes calls that arrive meanwhile: under load this would never end.
    try {
      for (let remaining = this.#waiting.length; remaining > 0; remaining -= MAX_BATCH) {
        const batch = this.#waiting.slice(0, Math.min(remaining, MAX_BATCH));
        rejections.push(...(await this.#append(batch)));
        this.#waiting.splice(0, batch.length);
      }
    } finally {
      const fields = { err: rejections[0], lost: rejections.length };
      if (rejections.length > 0) this.#options.log.error(fields, 'storing calls failed');
    }
  }

  /**
   * Writes calls one by one if the store rejects them together, so that one of them does not lose the others.
   * @returns the error of each call that is lost
   * @throws StoreUnavailable
   */
  async #append(calls: readonly StoredCall[]): Promise<readonly unknown[]> {
    try {
      await this.#options.store.append(calls);
      this.#uncounted += calls.length;
      return [];
    } catch (error) {
      if (isUnavailable(error)) throw error;
      if (calls.length === 1) return [error];
    }
    const rejections: unknown[] = [];
    for (const call of calls) rejections.push(...(await this.#append([call])));
    return rejections;
  }

  async #prune(): Promise<void> {
    const { store, maxCalls, maxHours } = this.#options;
    const now = performance.now();
    const isCount = this.#uncounted >= Math.max(MIN_PRUNED, maxCalls * PRUNE_SHARE);
    if (!isCount && now - this.#prunedAt < PRUNE_INTERVAL_MS) return;
    this.#prunedAt = now;
    if (isCount) this.#uncounted = 0;
    // A host whose clock is ahead must not remove the calls of the others.
    const since = (await store.now()) - maxHours * MS_PER_HOUR;
    await store.prune({ maxCalls: isCount ? maxCalls : null, since });
  }

  /** The warning comes at most once a minute: a disk may stay full for long. */
  #warn(reason: string): void {
    if (!this.#mayWarn()) return;
    const fields = { reason, waiting: this.#waiting.length, lost: this.#lost };
    this.#options.log.warn(fields, 'calls not stored');
    this.#lost = 0;
  }
}

/** Whether a repeated write may succeed: a row that breaks a constraint is rejected every time. */
function isUnavailable(error: unknown): error is StoreUnavailable {
  return error instanceof StoreUnavailable && error.code !== 'inconsistent';
}

/** The columns of a call: lists are JSON text. */
function toRow(recorded: RecordedCall, id: string): StoredCall {
  const { rejection, scopes, captured: _captured, ...call } = recorded;
  return {
    id,
    ...call,
    ...(rejection === null
      ? NO_REJECTION
      : { ...rejection, errors: JSON.stringify(rejection.errors) }),
    scopes: scopes && JSON.stringify(scopes),
  };
}

function fromRow({ id: _id, ...row }: StoredCall): RecordedCall {
  const call: Record<string, unknown> = { ...row };
  const rejection: Record<string, unknown> = {};
  for (const name of REJECTION_NAMES) {
    rejection[name] = call[name];
    delete call[name];
  }
  return {
    ...(call as unknown as RecordedCall),
    rejection: row.detail === null ? null : readRejection(rejection),
    scopes: row.scopes === null ? null : JSON.parse(row.scopes),
    captured: null,
  };
}

function readRejection(row: Record<string, unknown>): Rejection {
  return { ...(row as unknown as Rejection), errors: JSON.parse(String(row['errors'])) };
}
