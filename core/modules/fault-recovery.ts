import { type BackoffBounds, backoffMs } from '../lib/backoff.js';

/** Until a module that faulted is opened again: a start costs, and one that faults at each start most. */
const REOPEN_BACKOFF: BackoffBounds = { firstMs: 1000, maxMs: 60_000 };

/** Who has gone so long without a fault starts again with the shortest delay. */
const FORGET_AFTER_MS = 300_000;

/** How long a module waits until it is opened again, fault after fault. */
export class RecoveryBackoff {
  #faults = 0;
  #lastAt = Number.NEGATIVE_INFINITY;

  /** Counts a fault. Milliseconds. */
  next(): number {
    const now = performance.now();
    if (now - this.#lastAt > FORGET_AFTER_MS) this.#faults = 0;
    this.#lastAt = now;
    this.#faults += 1;
    return backoffMs(this.#faults, REOPEN_BACKOFF);
  }
}
