const WINDOW_MS = 60_000;
/** Contract 9: so many deaths in a minute are a crash loop. */
const MAX_EXITS_IN_WINDOW = 5;
const FIRST_DELAY_MS = 1000;
const MAX_DELAY_MS = 30_000;

/**
 * How soon a worker that has died is replaced: at once, and in a crash loop later each time, until a minute
 * has passed without a death.
 */
export class RestartBackoff {
  #deaths: readonly number[] = [];
  #delayMs = 0;

  /** Counts a death. @returns after how many milliseconds to replace the worker. */
  recordExit(now: number): number {
    const recent = this.#deaths.filter((at) => now - at < WINDOW_MS);
    if (recent.length === 0) this.#delayMs = 0;
    this.#deaths = [...recent, now];
    if (this.#delayMs > 0) this.#delayMs = Math.min(MAX_DELAY_MS, this.#delayMs * 2);
    else if (this.#deaths.length >= MAX_EXITS_IN_WINDOW) this.#delayMs = FIRST_DELAY_MS;
    return this.#delayMs;
  }
}
