import { createOverload } from './rejected-call.js';

interface LoadLimits {
  /** Concurrent calls over all modules. */
  readonly maxInFlight: number;
  /** Median delay of the event loop, in milliseconds, beyond which calls are rejected. */
  readonly shedDelayMs: number;
}

/** Rejects calls beyond the capacity of one process over all its modules. */
export class LoadShedder {
  readonly #limits: LoadLimits;
  readonly #delay: { readonly medianMs: number };
  #inFlight = 0;

  constructor(limits: LoadLimits, delay: { readonly medianMs: number }) {
    this.#limits = limits;
    this.#delay = delay;
  }

  get inFlight(): number {
    return this.#inFlight;
  }

  /**
   * Counts a call; `leave` must follow once.
   * @throws RejectedCall `overloaded`; the call is then not counted.
   */
  enter(): void {
    const { maxInFlight, shedDelayMs } = this.#limits;
    if (this.#inFlight >= maxInFlight) {
      throw createOverload('max-in-flight', `host concurrency limit ${maxInFlight}`);
    }
    if (this.#delay.medianMs > shedDelayMs) {
      throw createOverload('shed-delay-ms', `event loop delay over ${shedDelayMs} ms`);
    }
    this.#inFlight += 1;
  }

  leave(): void {
    this.#inFlight -= 1;
  }
}
