/** Keeps what was found out for a while. Never more than `maxEntries`: the oldest makes room. */
export class BoundedCache<T> {
  readonly #maxEntries: number;
  readonly #entries = new Map<string, { readonly value: T; readonly until: number }>();

  constructor(maxEntries: number) {
    this.#maxEntries = maxEntries;
  }

  get(key: string): T | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined) return undefined;
    if (Date.now() < entry.until) return entry.value;
    this.#entries.delete(key);
    return undefined;
  }

  /** @param until milliseconds since 1970; what has passed already is not kept. */
  set(key: string, value: T, until: number): void {
    if (Date.now() >= until) return;
    this.#entries.delete(key);
    if (this.#entries.size >= this.#maxEntries) {
      const oldest = this.#entries.keys().next().value;
      if (oldest !== undefined) this.#entries.delete(oldest);
    }
    this.#entries.set(key, { value, until });
  }
}
