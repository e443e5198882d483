import { setTimeout as pause } from 'node:timers/promises';
import { type Cancellation, ProviderFailure } from '../contract/index.js';
import { type ErrorOwner, runAs } from '../isolation/error-owner.js';
import { BatchQueue } from '../lib/batch-queue.js';
import { LazyAbortController } from '../lib/lazy-abort-controller.js';

/**
 * The deadlines of calls under way. Not a Set: that makes a new table for every so many calls, and what the old
 * ones still name (deadlines, their timers, the answers of providers) outlives dozens of collections.
 */
export class OpenDeadlines {
  readonly #all: Deadline[] = [];

  get size(): number {
    return this.#all.length;
  }

  add(deadline: Deadline): void {
    deadline.place = this.#all.push(deadline) - 1;
  }

  /** One that was added, once. */
  delete(deadline: Deadline): void {
    const last = this.#all.pop();
    if (last === undefined || last === deadline) return;
    this.#all[deadline.place] = last;
    last.place = deadline.place;
  }

  cut(): void {
    for (const deadline of [...this.#all]) deadline.cut();
  }
}

/** Of all deadlines: what providers answer in one turn of the event loop is handed on together. */
const answers = new BatchQueue<() => void>((handOn) => handOn());

/**
 * The one clock of an exchange, over all its waiting and all its attempts. It is aborted with the failure
 * that the abort stands for, so that adapters can rethrow the reason.
 *
 * One object a call and no closure: it is its own listener at the signal of the caller.
 */
export class Deadline extends LazyAbortController {
  readonly #timeoutMs: number;
  readonly #callerSignal: Cancellation;
  readonly #owner: ErrorOwner | null;
  readonly #timer: NodeJS.Timeout;
  readonly #endsAt: number;
  /** Where `OpenDeadlines` has it. */
  place = -1;
  /** When the work of the last race was done, by `performance.now()`. It is handed on a little later. */
  workedUntil = 0;
  #interrupt: ((reason: unknown) => void) | null = null;

  /** @param owner who answers for what throws when it is aborted */
  constructor(timeoutMs: number, callerSignal: Cancellation, owner: ErrorOwner | null = null) {
    super();
    this.#owner = owner;
    this.#timeoutMs = timeoutMs;
    this.#callerSignal = callerSignal;
    this.#endsAt = performance.now() + timeoutMs;
    this.#timer = setTimeout(expire, timeoutMs, this);
    if (callerSignal.aborted) this.handleEvent();
    else callerSignal.addEventListener('abort', this);
  }

  /** What is left of the time; 0 and less when it is over. */
  get leftMs(): number {
    return this.#endsAt - performance.now();
  }

  /** What `modgate-deadline-ms` says: whole milliseconds, at least 1. */
  get wholeMsLeft(): number {
    return Math.max(1, Math.floor(this.leftMs));
  }

  /** @throws the reason when it is aborted. */
  throwIfAborted(): void {
    if (this.aborted) throw this.reason;
  }

  /**
   * The work or the abort, whichever is first: an adapter that ignores its signal holds up nobody. One
   * that heeds it goes first, since it may know more of the failure. One race at a time.
   */
  race<T>(work: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      this.#interrupt = reject;
      if (this.aborted) setImmediate(reject, this.reason);
      work.then((value) => {
        this.workedUntil = performance.now();
        answers.add(() => resolve(value));
      }, reject);
    });
  }

  /** @throws the reason when it is aborted before `ms` have passed. */
  async pause(ms: number): Promise<void> {
    try {
      await pause(ms, undefined, { signal: this.signal });
    } catch {
      throw this.reason;
    }
  }

  /** Ends the call now, for the sake of the host. */
  cut(): void {
    this.abort(new ProviderFailure('unavailable', 'the version of the module was closed'));
  }

  /** The time is over. */
  expire(): void {
    this.abort(new ProviderFailure('timeout', `no answer within ${this.#timeoutMs} ms`));
  }

  /** The caller has hung up. */
  handleEvent(): void {
    this.abort(new ProviderFailure('cancelled', 'the caller has gone'));
  }

  /** The exchange is over: nothing is aborted any more. */
  end(): void {
    clearTimeout(this.#timer);
    this.#callerSignal.removeEventListener('abort', this);
  }

  override abort(reason: ProviderFailure): void {
    runAs(this.#owner, () => super.abort(reason));
    if (this.#interrupt !== null) setImmediate(this.#interrupt, this.reason);
  }
}

function expire(deadline: Deadline): void {
  deadline.expire();
}
