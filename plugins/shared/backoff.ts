/** A run this long resets the backoff. Milliseconds. */
const STABLE_MS = 10_000;
/** Restarts without delay: as many as a call with the default retries can cause. */
const IMMEDIATE_RESTARTS = 3;
const RESTART_BACKOFF: BackoffBounds = { firstMs: 100, maxMs: 30_000 };

export interface BackoffBounds {
  readonly firstMs: number;
  readonly maxMs: number;
}

/** Delay before attempt `attempt` (from 1): doubles up to `maxMs`, without jitter. */
export function steadyBackoffMs(attempt: number, { firstMs, maxMs }: BackoffBounds): number {
  return Math.min(firstMs * 2 ** (attempt - 1), maxMs);
}

/** The delay before the restart of a process or thread: none for the first three, then with backoff. */
export class RestartBackoff {
  #exits = 0;

  /** @param upMs how long it was ready; 0 if never. @returns the delay in milliseconds */
  next(upMs: number): number {
    if (upMs >= STABLE_MS) this.#exits = 0;
    this.#exits += 1;
    if (this.#exits <= IMMEDIATE_RESTARTS) return 0;
    return steadyBackoffMs(this.#exits - IMMEDIATE_RESTARTS, RESTART_BACKOFF);
  }
}
