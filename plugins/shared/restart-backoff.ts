/** Up for so long, it is taken to have started well: what ends it later is a new story. Milliseconds. */
const STABLE_MS = 10_000;
/** By default a host repeats a call twice: one that kills what answers it costs so many starts, and no pause for others. */
const FREE_STARTS = 3;
const FIRST_BACKOFF_MS = 100;
const MAX_BACKOFF_MS = 30_000;

/**
 * How long to wait before something that ended is started again: not at all three times, then 100 ms,
 * doubling up to 30 s, so that a crash loop costs two starts a minute.
 */
export class RestartBackoff {
  #ends = 0;

  /** @param upMs how long it had been ready; 0 when it never was */
  next(upMs: number): number {
    if (upMs >= STABLE_MS) this.#ends = 0;
    this.#ends += 1;
    if (this.#ends <= FREE_STARTS) return 0;
    return Math.min(FIRST_BACKOFF_MS * 2 ** (this.#ends - FREE_STARTS - 1), MAX_BACKOFF_MS);
  }
}
