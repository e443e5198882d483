import { RETRY_MS, type ResolveName } from './resolve-name.js';

/**
 * Detects that a name resolves to other addresses. New connections resolve it anyway. This is for open
 * connections, which would keep an old address while they are busy.
 *
 * A call with an expired result starts a lookup in the background; a module without calls starts none.
 */
export class NameWatch {
  readonly #host: string;
  readonly #resolve: ResolveName;
  readonly #onChange: () => void;
  #known: string | null = null;
  #nextLookupAt = 0;
  #isResolving = false;

  constructor(host: string, resolve: ResolveName, onChange: () => void) {
    this.#host = host;
    this.#resolve = resolve;
    this.#onChange = onChange;
  }

  touch(): void {
    if (this.#isResolving || performance.now() < this.#nextLookupAt) return;
    this.#isResolving = true;
    // Never rejects.
    void this.#lookUp();
  }

  async #lookUp(): Promise<void> {
    let nextMs = RETRY_MS;
    try {
      const { addresses, ttlMs } = await this.#resolve(this.#host);
      nextMs = ttlMs;
      const before = this.#known;
      this.#known = addresses.join(' ');
      if (before !== null && before !== this.#known) this.#onChange();
    } catch {
      // Keep the connections that exist.
    }
    this.#nextLookupAt = performance.now() + nextMs;
    this.#isResolving = false;
  }
}
