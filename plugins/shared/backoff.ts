/** A run this long resets the backoff. Milliseconds. */
const STABLE_MS = 10_000;
/** Restarts without delay: as many as a call with the default retries can cause. */
const IMMEDIATE_RESTARTS = 3;
const RESTART_BACKOFF: BackoffBounds = { firstMs: 100, maxMs: 30_000 };

export interface BackoffBounds {
  readonly firstMs: number;
  readonly maxMs: number;
}

/** The delay before retry `retry` (from 0): doubles up to `maxMs`. */
export function backoffMs(retry: number, { firstMs, maxMs }: BackoffBounds): number {
  return Math.min(firstMs * 2 ** retry, maxMs);
}

/** The delay before the restart of a process or thread: none for the first three, then with backoff. */
export class RestartBackoff {
  #exits = 0;

  /** @param upMs how long it was ready; 0 if never. @returns the delay in milliseconds */
  next(upMs: number): number {
    if (upMs >= STABLE_MS) this.#exits = 0;
    this.#exits += 1;
    if (this.#exits <= IMMEDIATE_RESTARTS) return 0;
    return backoffMs(this.#exits - IMMEDIATE_RESTARTS - 1, RESTART_BACKOFF);
  }
}
