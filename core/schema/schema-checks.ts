import type { Cancellation } from '../contract/index.js';
import { QueueFull, Semaphore } from '../contract/semaphore.js';
import { isThreadLacking } from '../lib/idle-thread.js';
import {
  type CheckedSchema,
  type CheckResult,
  CheckThread,
  type FoundViolations,
} from './check-thread.js';
import { type CheckLimits, CheckTooCostly, INLINE_CHECK } from './run.js';
import { UsedTime } from './used-time.js';

export interface CheckCaller {
  /** Callers with costly checks take turns by actor. */
  readonly actor: string;
  /** Ends the wait for a turn. */
  readonly signal: Cancellation;
}

/** A larger value takes a while to be parsed. Bytes. */
const MAX_INLINE_BYTES = 65_536;
/** The same where the system has no thread. */
const MAX_LONG_INLINE_BYTES = 262_144;
/**
 * The maximum number of checks that wait for a thread. Each holds a body, which the memory budget
 * counts.
 */
const MAX_WAITING = 256;
/** The longest wait for a thread. Milliseconds. */
const MAX_WAIT_MS = 10_000;
/** A check within this time counts as part of its request. Milliseconds. */
const FREE_MS = 1;
/** The event loop time that an actor may use in a second, and at once. Milliseconds. */
const EVENT_LOOP_MS = 100;
/** The thread time for short checks that an actor may use in a second, and at once. */
const SHORT_LANE_MS = 300;

/** Values that are checked in turn, in a separate thread. */
class CheckLane {
  readonly #thread = new CheckThread();
  readonly #turns = new Semaphore(1, MAX_WAITING);

  /** @throws QueueFull */
  run(
    schema: CheckedSchema,
    bytes: Buffer,
    isFull: boolean,
    { actor, signal }: CheckCaller,
  ): Promise<CheckResult> {
    const options = { share: actor, signal, timeoutMs: MAX_WAIT_MS };
    return this.#turns.run(() => this.#thread.check(schema, bytes, isFull), options);
  }
}

/**
 * Checks values against schemas without blocking the event loop. A small value is checked at once
 * if that is fast. Others are checked in a thread, and those that take long there in another
 * thread, so that the costly checks of one caller do not delay those of others.
 */
class SchemaChecks {
  readonly #short = new CheckLane();
  readonly #long = new CheckLane();
  readonly #eventLoop = new UsedTime(EVENT_LOOP_MS);
  readonly #shortLane = new UsedTime(SHORT_LANE_MS);

  /**
   * @param check checks against the same schema, on the event loop
   * @throws QueueFull, also as a rejection, when too many costly checks wait, or the system lacks the
   * resources for their thread.
   */
  find<Found extends FoundViolations>(
    schema: CheckedSchema,
    bytes: Buffer,
    check: (limits: CheckLimits) => Found,
    caller: CheckCaller,
  ): Found | Promise<Found> {
    if (bytes.length > MAX_INLINE_BYTES || this.#eventLoop.isUsedUp(caller.actor)) {
      return this.#findElsewhere(schema, bytes, check, caller);
    }
    try {
      return this.#checkHere(check, caller);
    } catch (error) {
      if (!(error instanceof CheckTooCostly)) throw error;
      return this.#findElsewhere(schema, bytes, check, caller);
    }
  }

  /** @throws CheckTooCostly */
  #checkHere<Found>(check: (limits: CheckLimits) => Found, { actor }: CheckCaller): Found {
    const startedAt = performance.now();
    try {
      return check(INLINE_CHECK);
    } finally {
      const usedMs = performance.now() - startedAt;
      if (usedMs > FREE_MS) this.#eventLoop.add(actor, usedMs);
    }
  }

  /** In a thread, or on the event loop in the time of the actor where the system has none. */
  async #findElsewhere<Found extends FoundViolations>(
    schema: CheckedSchema,
    bytes: Buffer,
    check: (limits: CheckLimits) => Found,
    caller: CheckCaller,
  ): Promise<Found> {
    try {
      return await this.#findInThread<Found>(schema, bytes, caller);
    } catch (error) {
      if (!isThreadLacking(error)) throw error;
      const isLong = bytes.length > MAX_LONG_INLINE_BYTES;
      if (isLong || this.#eventLoop.isUsedUp(caller.actor)) throw new QueueFull();
    }
    try {
      return this.#checkHere(check, caller);
    } catch (error) {
      throw error instanceof CheckTooCostly ? new QueueFull() : error;
    }
  }

  async #findInThread<Found extends FoundViolations>(
    schema: CheckedSchema,
    bytes: Buffer,
    caller: CheckCaller,
  ): Promise<Found> {
    let violations: CheckResult['violations'] = 'too costly';
    if (!this.#shortLane.isUsedUp(caller.actor)) {
      const short = await this.#short.run(schema, bytes, false, caller);
      this.#shortLane.add(caller.actor, short.cpuMs);
      violations = short.violations;
    }
    if (violations === 'too costly') {
      violations = (await this.#long.run(schema, bytes, true, caller)).violations;
    }
    if (typeof violations === 'string') throw new Error('a thread could not check a value');
    return violations as Found;
  }
}

/** The only instance of the process, which has one event loop. */
export const schemaChecks = new SchemaChecks();
