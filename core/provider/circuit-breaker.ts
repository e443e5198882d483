import type { FailureCode, ProviderFailure } from '../contract/index.js';
import type { Breaker as BreakerSettings } from '../descriptor/descriptor.js';

export type BreakerState = 'closed' | 'open' | 'half_open';

/** The result of a call for a breaker; a `neutral` one does not count. */
export type BreakerVerdict = 'success' | 'failure' | 'neutral';

/** Identifies the state in which a call was admitted; a verdict from an earlier state is ignored. */
export type BreakerTicket = number;

/**
 * Opens when failures within the window are both numerous and a large share of the calls, then admits one
 * probe at a time.
 *
 * cockatiel was tried and rejected: its probe closes the breaker when the client hangs up, calls beside the
 * probe wait for it (501 ms instead of 5), a late failure of an earlier call counts as the probe's, and it
 * uses the wall clock.
 */
export class CircuitBreaker {
  readonly #settings: BreakerSettings;
  readonly #onChange: (state: BreakerState, openMs: number) => void;
  /** `null` before the first call: most modules of a large host are idle. */
  #window: OutcomeWindow | null = null;
  #state: BreakerState = 'closed';
  #openMs: number;
  /** The time on the monotonic clock of `performance.now`. */
  #openUntil = 0;
  /** The same time on the wall clock, for display. */
  #until: Date | null = null;
  #ticket: BreakerTicket = 0;
  #failure: string | null = null;

  constructor(
    settings: BreakerSettings,
    onChange: (state: BreakerState, openMs: number) => void = () => {},
  ) {
    this.#settings = settings;
    this.#openMs = settings.open_ms;
    this.#onChange = onChange;
  }

  /**
   * Starts with the state of a breaker with the same settings. If that is not closed, the next call
   * is the probe.
   */
  inherit(earlier: CircuitBreaker): void {
    if (earlier.#window !== null) this.#openWindow().inherit(earlier.#window);
    if (earlier.#state === 'closed') return;
    this.#state = 'open';
    this.#openMs = earlier.#openMs;
    this.#failure = earlier.#failure;
  }

  /** An open breaker whose time is over is half-open, even before the probe starts. */
  get state(): BreakerState {
    return this.#state === 'open' && this.waitMs() === 0 ? 'half_open' : this.#state;
  }

  /** Whether the next call may pass. */
  isAdmitting(isRepeatable = true): boolean {
    return this.#state === 'closed' || (this.#state === 'open' && this.waitMs(isRepeatable) === 0);
  }

  /**
   * The milliseconds until it admits a probe; 0 when it is not open. A probe may fail, so that a
   * call that must not be repeated waits for another probe for `open_ms` more.
   */
  waitMs(isRepeatable = true): number {
    if (this.#state !== 'open') return 0;
    const graceMs = isRepeatable ? 0 : this.#settings.open_ms;
    return Math.max(0, this.#openUntil + graceMs - performance.now());
  }

  /** The time when it becomes half-open; `null` when it is not open. */
  get until(): Date | null {
    return this.waitMs() === 0 ? null : this.#until;
  }

  /** The failure that opened it; `null` while it is closed. */
  get failure(): string | null {
    return this.#state === 'closed' ? null : this.#failure;
  }

  /** Call only while `isAdmitting`; `settle` the ticket once. */
  admit(): BreakerTicket {
    if (this.#state === 'open') this.#change('half_open');
    return this.#ticket;
  }

  /** @param failure the reason, for operators */
  settle(ticket: BreakerTicket, verdict: BreakerVerdict, failure: string | null = null): void {
    if (ticket !== this.#ticket) return;
    if (verdict === 'failure') this.#failure = failure;
    if (this.#state === 'half_open') this.#settleProbe(verdict);
    else if (verdict === 'success') this.#openWindow().addSuccess();
    else if (verdict === 'failure') this.#countFailure();
  }

  #openWindow(): OutcomeWindow {
    this.#window ??= new OutcomeWindow(this.#settings.window_ms);
    return this.#window;
  }

  #countFailure(): void {
    const window = this.#openWindow();
    window.addFailure();
    const { failures } = window;
    if (failures < this.#settings.failures) return;
    if (failures >= this.#settings.ratio * window.total) this.#open(this.#settings.open_ms);
  }

  #settleProbe(verdict: BreakerVerdict): void {
    if (verdict === 'failure') {
      this.#open(Math.min(2 * this.#openMs, this.#settings.max_open_ms));
    } else if (verdict === 'success') {
      this.#window?.clear();
      this.#change('closed');
    } else {
      // Open again, with its time already over: the next call is the probe.
      this.#change('open');
    }
  }

  #open(openMs: number): void {
    this.#openMs = openMs;
    this.#openUntil = performance.now() + openMs;
    this.#until = new Date(Date.now() + openMs);
    this.#change('open');
  }

  #change(state: BreakerState): void {
    this.#state = state;
    this.#ticket += 1;
    this.#onChange(state, this.#openMs);
  }
}

/** The window moves in steps of a tenth of its length. */
const SLICES = 10;

/** Counts successes and failures of the last `windowMs`. */
class OutcomeWindow {
  readonly #sliceMs: number;
  readonly #failures = new Uint32Array(SLICES);
  readonly #successes = new Uint32Array(SLICES);
  #slice = 0;

  constructor(windowMs: number) {
    this.#sliceMs = windowMs / SLICES;
  }

  /** Starts with the counts of a window of the same length. */
  inherit(earlier: OutcomeWindow): void {
    this.#slice = earlier.#slice;
    this.#failures.set(earlier.#failures);
    this.#successes.set(earlier.#successes);
  }

  addSuccess(): void {
    const index = this.#advance();
    this.#successes[index] = (this.#successes[index] ?? 0) + 1;
  }

  addFailure(): void {
    const index = this.#advance();
    this.#failures[index] = (this.#failures[index] ?? 0) + 1;
  }

  get failures(): number {
    this.#advance();
    return sum(this.#failures);
  }

  get total(): number {
    return this.failures + sum(this.#successes);
  }

  clear(): void {
    this.#failures.fill(0);
    this.#successes.fill(0);
  }

  /** Drops the slices that have left the window. @returns the index of the current slice. */
  #advance(): number {
    const now = Math.floor(performance.now() / this.#sliceMs);
    const first = Math.max(this.#slice + 1, now - SLICES + 1);
    for (let slice = first; slice <= now; slice += 1) {
      this.#failures[slice % SLICES] = 0;
      this.#successes[slice % SLICES] = 0;
    }
    this.#slice = now;
    return now % SLICES;
  }
}

function sum(counts: Uint32Array): number {
  return counts.reduce((total, count) => total + count, 0);
}

/** The result of an attempt for the breaker of its endpoint, and for that of its route there. */
export interface AttemptVerdict {
  readonly endpoint: BreakerVerdict;
  readonly route: BreakerVerdict;
}

/** From this status on, a response is a failure of the route. */
export const MIN_SERVER_ERROR = 500;

/**
 * The status of a response counts for its route only, so that one bad route does not close a
 * module.
 */
export const VERDICTS = {
  /** Canceled, denied by the transport, or rejected by a limit. */
  uncounted: { endpoint: 'neutral', route: 'neutral' },
  unreachable: { endpoint: 'failure', route: 'neutral' },
  /** Timed out, or failed without a complete response. */
  incomplete: { endpoint: 'neutral', route: 'failure' },
  /** Failed after the status line. */
  cutShort: { endpoint: 'success', route: 'failure' },
  serverError: { endpoint: 'success', route: 'failure' },
  /** The response is not JSON, encoded, a redirect, malformed or too large. */
  unusable: { endpoint: 'success', route: 'neutral' },
  answered: { endpoint: 'success', route: 'success' },
} as const satisfies Record<string, AttemptVerdict>;

/** @param isUsable whether the response can be passed to the client */
export function verdictOfResponse(status: number, isUsable: boolean): AttemptVerdict {
  if (status >= MIN_SERVER_ERROR) return VERDICTS.serverError;
  return isUsable ? VERDICTS.answered : VERDICTS.unusable;
}

const COUNTED: ReadonlySet<FailureCode> = new Set(['unavailable', 'timeout', 'protocol']);

export function verdictOfFailure({ failure, status, phase }: ProviderFailure): AttemptVerdict {
  if (phase === 'preparing') return VERDICTS.uncounted;
  if (failure === 'unavailable' && phase !== 'sending') return VERDICTS.unreachable;
  if (failure === 'status' && status !== null) return verdictOfResponse(status, false);
  if (!COUNTED.has(failure)) return VERDICTS.uncounted;
  if (phase === 'connecting') return VERDICTS.unreachable;
  if (phase === 'answered') return VERDICTS.unusable;
  return status === null ? VERDICTS.incomplete : VERDICTS.cutShort;
}
