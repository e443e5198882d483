interface Entry<T> {
  readonly value: T;
  readonly until: number;
  /** The same on the clock of `performance.now`, which no one sets back. */
  readonly steadyUntil: number;
}

/**
 * Keeps what was found out for a while. Never more than `maxEntries`: the oldest makes room. An entry
 * ends by the wall clock, as tokens do, and also after the time that was left to it: a clock that is set
 * back does not keep a revoked token good.
 */
export class ExpiringCache<T> {
  readonly #maxEntries: number;
  readonly #entries = new Map<string, Entry<T>>();

  constructor(maxEntries: number) {
    this.#maxEntries = maxEntries;
  }

  get(key: string): T | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined) return undefined;
    const { value, until, steadyUntil } = entry;
    if (Date.now() < until && performance.now() < steadyUntil) return value;
    this.#entries.delete(key);
    return undefined;
  }

  /** @param until milliseconds since 1970; what has passed already is not kept. */
  set(key: string, value: T, until: number): void {
    const leftMs = until - Date.now();
    if (leftMs <= 0) return;
    this.#entries.delete(key);
    if (this.#entries.size >= this.#maxEntries) {
      const oldest = this.#entries.keys().next().value;
      if (oldest !== undefined) this.#entries.delete(oldest);
    }
    this.#entries.set(key, { value, until, steadyUntil: performance.now() + leftMs });
  }
}
