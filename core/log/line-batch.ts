/** Nobody who reads a log waits for a line that long, and a crash of the machine costs no more lines. */
const MAX_DELAY_MS = 20;
/** What Linux holds in a pipe. Bytes. */
const MAX_BYTES = 65_536;

/**
 * Gathers the lines of some milliseconds as bytes and hands them on together: to write each by itself costs
 * more than all else that is done for it, and lines that wait as strings are moved about by the collector.
 */
export class LineBatch {
  readonly #write: (lines: Buffer) => void;
  readonly #bytes: Buffer;
  #used = 0;
  #timer: NodeJS.Timeout | undefined;

  /** @param maxBytes handed on together; only a line that is longer by itself makes more */
  constructor(write: (lines: Buffer) => void, maxBytes = MAX_BYTES) {
    this.#write = write;
    this.#bytes = Buffer.alloc(maxBytes);
  }

  add(line: string): void {
    const length = Buffer.byteLength(line);
    if (this.#used + length > this.#bytes.length) this.flush();
    if (length > this.#bytes.length) {
      this.#write(Buffer.from(line));
      return;
    }
    this.#used += this.#bytes.write(line, this.#used);
    // A process that ends flushes: the timer need not keep it.
    this.#timer ??= setTimeout(() => this.flush(), MAX_DELAY_MS).unref();
  }

  flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#used === 0) return;
    const lines = Buffer.from(this.#bytes.subarray(0, this.#used));
    this.#used = 0;
    this.#write(lines);
  }
}
