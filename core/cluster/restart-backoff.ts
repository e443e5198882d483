const WINDOW_MS = 60_000;
/** The number of exits within a minute that counts as a crash loop. */
const MAX_EXITS_IN_WINDOW = 5;
const FIRST_DELAY_MS = 1000;
const MAX_DELAY_MS = 30_000;

/**
 * The delay before an exited worker is replaced: none at first, doubling in a crash loop, and none
 * again after a minute without an exit.
 */
export class WorkerRestartBackoff {
  #exits: readonly number[] = [];
  #delayMs = 0;

  /** @returns the milliseconds to wait before replacing the worker. */
  recordExit(now: number): number {
    const recent = this.#exits.filter((exitedAt) => now - exitedAt < WINDOW_MS);
    if (recent.length === 0) this.#delayMs = 0;
    this.#exits = [...recent, now];
    if (this.#delayMs > 0) this.#delayMs = Math.min(MAX_DELAY_MS, this.#delayMs * 2);
    else if (this.#exits.length >= MAX_EXITS_IN_WINDOW) this.#delayMs = FIRST_DELAY_MS;
    return this.#delayMs;
  }
}
