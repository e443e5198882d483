import { setTimeout as pause } from 'node:timers/promises';
import { type Cancellation, ProviderFailure } from '../contract/index.js';
import { type ErrorOwner, runAs } from '../isolation/error-owner.js';
import { BatchQueue } from '../lib/batch-queue.js';
import { LazyAbortController } from '../lib/lazy-abort-controller.js';

/** Passes on the responses of one turn of the event loop together. */
const responses = new BatchQueue<() => void>((resolve) => resolve());

/**
 * The timer and cancellation of one call, over all its waits and attempts. Its abort reason is the failure
 * of the call, so that adapters can rethrow it.
 *
 * One object per call and no closure: it listens to the signal of the HTTP client itself.
 */
export class Deadline extends LazyAbortController {
  readonly #timeoutMs: number;
  readonly #clientSignal: Cancellation;
  readonly #owner: ErrorOwner | null;
  #timer: NodeJS.Timeout | undefined;
  #endsAt: number;
  /** On the clock of `performance`. */
  readonly startedAt: number;
  /** Whether its call lasts as long as a stream of events or a WebSocket. */
  isEndless = false;
  /** Whether the time no longer runs. */
  #isReleased = false;
  /** The position in `OpenDeadlines`. */
  index = -1;
  #interrupt: ((reason: unknown) => void) | null = null;

  /** @param owner the owner of errors that abort listeners throw */
  constructor(timeoutMs: number, clientSignal: Cancellation, owner: ErrorOwner | null = null) {
    super();
    this.#owner = owner;
    this.#timeoutMs = timeoutMs;
    this.#clientSignal = clientSignal;
    this.startedAt = performance.now();
    this.#endsAt = this.startedAt + timeoutMs;
    this.#timer = setTimeout(expire, timeoutMs, this);
    if (clientSignal.aborted) this.handleEvent();
    else clientSignal.addEventListener('abort', this);
  }

  /** Remaining milliseconds; 0 or less after the end. */
  get leftMs(): number {
    return this.#endsAt - performance.now();
  }

  /** The value of `modgate-deadline-ms`: whole milliseconds, at least 1. */
  get wholeMsLeft(): number {
    return Math.max(1, Math.floor(this.leftMs));
  }

  /** @throws the abort reason. */
  throwIfAborted(): void {
    if (this.aborted) throw this.reason;
  }

  /**
   * Settles with the work or the abort, whichever is first, so that an adapter that ignores its
   * signal blocks nothing. An adapter that handles the signal settles first, because its failure
   * may be more precise. Races must not overlap.
   */
  race<T>(work: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      this.#interrupt = reject;
      if (this.aborted) setImmediate(reject, this.reason);
      work.then((value) => responses.add(() => resolve(value)), reject);
    });
  }

  /** @throws the abort reason when aborted before `ms` have passed. */
  async pause(ms: number): Promise<void> {
    try {
      await pause(ms, undefined, { signal: this.signal });
    } catch {
      throw this.reason;
    }
  }

  /** Ends the call because the module version closes. */
  cut(): void {
    this.abort(new ProviderFailure('unavailable', 'the version of the module was closed'));
  }

  /** Ends the call because its time is over. */
  expire(): void {
    this.abort(new ProviderFailure('timeout', `no response within ${this.#timeoutMs} ms`));
  }

  /** Called when the HTTP client has disconnected. */
  handleEvent(): void {
    this.abort(new ProviderFailure('cancelled', 'the client disconnected'));
  }

  /** Stops the time during the streaming of a request, which has separate limits. */
  suspend(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#endsAt = Number.POSITIVE_INFINITY;
  }

  /** Restarts the full time after the streamed request has ended. */
  restart(): void {
    if (this.#isReleased) return;
    clearTimeout(this.#timer);
    this.#endsAt = performance.now() + this.#timeoutMs;
    this.#timer = setTimeout(expire, this.#timeoutMs, this);
  }

  /**
   * Starts the time anew.
   * @param latest when it ends at the latest, on the clock of `performance`
   */
  renew(latest: number): void {
    if (this.#isReleased || this.#endsAt === Number.POSITIVE_INFINITY) return;
    const endsAt = Math.min(performance.now() + this.#timeoutMs, latest);
    if (endsAt <= this.#endsAt) return;
    clearTimeout(this.#timer);
    this.#endsAt = endsAt;
    this.#timer = setTimeout(expire, endsAt - performance.now(), this);
  }

  /** Stops the time after the head of a streamed response, whose body has separate limits. */
  release(): void {
    this.#isReleased = true;
    this.#interrupt = null;
    this.suspend();
  }

  /** Ends the deadline: nothing is aborted afterwards. */
  end(): void {
    this.release();
    this.#clientSignal.removeEventListener('abort', this);
  }

  override abort(reason: ProviderFailure): void {
    runAs(this.#owner, () => super.abort(reason));
    if (this.#interrupt !== null) setImmediate(this.#interrupt, this.reason);
  }
}

function expire(deadline: Deadline): void {
  deadline.expire();
}

/**
 * The deadlines of the calls in progress. A Set is not used: it allocates a new table at intervals,
 * and objects of the old tables outlive dozens of collections (50 % more memory under load).
 */
export class OpenDeadlines {
  readonly #all: Deadline[] = [];

  get size(): number {
    return this.#all.length;
  }

  add(deadline: Deadline): void {
    deadline.index = this.#all.push(deadline) - 1;
  }

  /** @param deadline an added deadline that was not deleted since */
  delete(deadline: Deadline): void {
    const last = this.#all.pop();
    if (last === undefined || last === deadline) return;
    this.#all[deadline.index] = last;
    last.index = deadline.index;
  }

  /** Ends all calls except endless ones. @returns whether any of those is left */
  cut(): boolean {
    const calls = this.#all.filter(({ isEndless }) => !isEndless);
    const isLeft = calls.length < this.#all.length;
    for (const deadline of calls) deadline.cut();
    return isLeft;
  }
}
