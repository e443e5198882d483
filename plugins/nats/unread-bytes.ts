/** The maximum of bytes that a server has not read, which stay in the memory of the NATS client. */
export const MAX_UNREAD_BYTES = 16 * 1024 * 1024;

/** Counts what was published on one connection until the server has read it. */
export class UnreadBytes {
  readonly #flush: () => Promise<void>;
  readonly #maxBytes: number;
  #published = 0;
  #read = 0;
  #isAsking = false;

  /** @param flush resolves when the server has read everything that was published before */
  constructor(flush: () => Promise<void>, maxBytes: number = MAX_UNREAD_BYTES) {
    this.#flush = flush;
    this.#maxBytes = maxBytes;
  }

  /** Asks the server only after many bytes since its last response. */
  add(bytes: number): void {
    this.#published += bytes;
    if (!this.#isAsking && this.#unread > this.#maxBytes / 2) void this.#ask();
  }

  get isFull(): boolean {
    return this.#unread >= this.#maxBytes;
  }

  get #unread(): number {
    return this.#published - this.#read;
  }

  /** Never rejects. */
  async #ask(): Promise<void> {
    this.#isAsking = true;
    try {
      // Much may be published meanwhile, and a full one is not added to.
      do {
        const published = this.#published;
        await this.#flush();
        this.#read = published;
      } while (this.#unread > this.#maxBytes / 2);
    } catch {
      // The connection is closed, and the next one starts at 0.
    }
    this.#isAsking = false;
  }
}
