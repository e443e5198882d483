import { createOverload } from './rejected-call.js';

export interface LoadLimits {
  /** Calls at a time over all modules. */
  readonly maxInFlight: number;
  /** The median delay of the event loop past which nothing more is taken. Milliseconds. */
  readonly shedDelayMs: number;
}

/** What one process can carry, over all its modules: one more call would slow down all that are there. */
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
   * Takes a place, which `leave` gives back.
   * @throws GuardFailure `overloaded`; no place is taken.
   */
  enter(): void {
    const { maxInFlight, shedDelayMs } = this.#limits;
    if (this.#inFlight >= maxInFlight) {
      throw createOverload('max-in-flight', 'the host has as many calls in flight as it may');
    }
    if (this.#delay.medianMs > shedDelayMs) {
      throw createOverload('shed-delay-ms', 'the event loop of the host is late');
    }
    this.#inFlight += 1;
  }

  leave(): void {
    this.#inFlight -= 1;
  }
}
