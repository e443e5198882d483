/** In millionths of a retry, since shares such as 0.1 do not add up to 1 in floating point. */
const RETRY = 1_000_000;
/** Cap and start of the bucket (contract 9). */
const CAPACITY = 10 * RETRY;

/**
 * Bounds retries to a share of the calls, so that a provider that is down does not get a multiple of the
 * load it went down under.
 */
export class RetryBudget {
  readonly #deposit: number;
  #tokens = CAPACITY;

  /** @param share of a retry that each call adds */
  constructor(share: number) {
    this.#deposit = Math.round(share * RETRY);
  }

  deposit(): void {
    this.#tokens = Math.min(CAPACITY, this.#tokens + this.#deposit);
  }

  /** Whether there is enough for a retry, which is then paid for. */
  withdraw(): boolean {
    if (this.#tokens < RETRY) return false;
    this.#tokens -= RETRY;
    return true;
  }
}
