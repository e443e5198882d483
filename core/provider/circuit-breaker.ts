import type { Breaker as BreakerSettings } from '../descriptor/descriptor.js';

export type BreakerState = 'closed' | 'open' | 'half_open';

/** What a call says of its endpoint; `neutral` says nothing, as a caller who hung up. */
export type Verdict = 'success' | 'failure' | 'neutral';

/** Which calls a verdict is believed of: those that began since the breaker last changed. */
export type BreakerTicket = number;

/**
 * Keeps calls away from an endpoint that failed too often in a row, and lets one back as a probe from
 * time to time (contract 9).
 *
 * Not cockatiel's, which was tried: 0.13 µs a call are no reason against it, but there a probe whose
 * caller hangs up closes the breaker, calls beside a probe wait for it instead of being refused (501 ms
 * where 5 are allowed), a late failure from before counts as the probe's, and the wall clock times it.
 */
export class CircuitBreaker {
  readonly #settings: BreakerSettings;
  readonly #onChange: (state: BreakerState, openMs: number) => void;
  #state: BreakerState = 'closed';
  #failuresInARow = 0;
  #openMs: number;
  /** On the clock of `performance.now`, which no one sets back. */
  #openUntil = 0;
  /** The same on the clock of the wall, to be shown. */
  #until: Date | null = null;
  #ticket: BreakerTicket = 0;

  constructor(
    settings: BreakerSettings,
    onChange: (state: BreakerState, openMs: number) => void = () => {},
  ) {
    this.#settings = settings;
    this.#openMs = settings.openMs;
    this.#onChange = onChange;
  }

  /** One that is open, and whose time has come, is half open before the probe is there. */
  get state(): BreakerState {
    return this.#state === 'open' && this.waitMs === 0 ? 'half_open' : this.#state;
  }

  /** Whether the next call may pass. */
  get isAdmitting(): boolean {
    return this.#state === 'closed' || (this.#state === 'open' && this.waitMs === 0);
  }

  /** How long it stays open, in milliseconds; 0 when it is not. */
  get waitMs(): number {
    return this.#state === 'open' ? Math.max(0, this.#openUntil - performance.now()) : 0;
  }

  /** When it lets a probe through; `null` when it is not open. */
  get until(): Date | null {
    return this.waitMs === 0 ? null : this.#until;
  }

  /** Call it only while `isAdmitting`, and `settle` the ticket once. */
  admit(): BreakerTicket {
    if (this.#state === 'open') this.#change('half_open');
    return this.#ticket;
  }

  settle(ticket: BreakerTicket, verdict: Verdict): void {
    if (ticket !== this.#ticket) return;
    if (this.#state === 'half_open') this.#settleProbe(verdict);
    else if (verdict === 'success') this.#failuresInARow = 0;
    else if (verdict === 'failure') this.#countFailure();
  }

  #countFailure(): void {
    this.#failuresInARow += 1;
    if (this.#failuresInARow >= this.#settings.failures) this.#open(this.#settings.openMs);
  }

  #settleProbe(verdict: Verdict): void {
    if (verdict === 'failure') {
      this.#open(Math.min(2 * this.#openMs, this.#settings.maxOpenMs));
    } else if (verdict === 'success') {
      this.#failuresInARow = 0;
      this.#change('closed');
    } else {
      // It is as open as before, and its time has come: the next call is the probe.
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
