/** Millionths of a retry: shares such as 0.1 do not add up to 1 in floating point. */
const RETRY = 1_000_000;
/** Capacity and initial content of the bucket. */
const CAPACITY = 10 * RETRY;

/** Limits retries to a share of the calls, so that they do not multiply the load on a failing provider. */
export class RetryBudget {
  readonly #deposit: number;
  #tokens = CAPACITY;

  /** @param share the fraction of a retry that each call adds */
  constructor(share: number) {
    this.#deposit = Math.round(share * RETRY);
  }

  deposit(): void {
    this.#tokens = Math.min(CAPACITY, this.#tokens + this.#deposit);
  }

  /** Pays for a retry. @returns whether the budget covers it. */
  withdraw(): boolean {
    if (this.#tokens < RETRY) return false;
    this.#tokens -= RETRY;
    return true;
  }
}
