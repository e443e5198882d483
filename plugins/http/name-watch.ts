import { RETRY_MS, type ResolveName } from './resolve-name.js';

/**
 * Notices that a name stands for other addresses than before. New connections look it up anyway; this is
 * for those that are kept, which would stay with an address for as long as they are busy.
 *
 * It asks when it is used and the last answer is too old, in passing: no call waits for it, and a module
 * that is not called asks nothing.
 */
export class NameWatch {
  readonly #host: string;
  readonly #resolve: ResolveName;
  readonly #onMove: () => void;
  #known: string | null = null;
  #askAt = 0;
  #isAsking = false;

  constructor(host: string, resolve: ResolveName, onMove: () => void) {
    this.#host = host;
    this.#resolve = resolve;
    this.#onMove = onMove;
  }

  touch(): void {
    if (this.#isAsking || performance.now() < this.#askAt) return;
    this.#isAsking = true;
    // It catches what resolving throws.
    void this.#ask();
  }

  async #ask(): Promise<void> {
    let nextMs = RETRY_MS;
    try {
      const { addresses, ttlMs } = await this.#resolve(this.#host);
      nextMs = ttlMs;
      const before = this.#known;
      this.#known = addresses.join(' ');
      if (before !== null && before !== this.#known) this.#onMove();
    } catch {
      // The connections that are there are better than none.
    }
    this.#askAt = performance.now() + nextMs;
    this.#isAsking = false;
  }
}
