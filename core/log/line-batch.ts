/** Nobody who reads a log waits for a line that long, and a crash of the machine costs no more lines. */
const MAX_DELAY_MS = 20;
/** What Linux holds in a pipe. Bytes. */
const MAX_BYTES = 65_536;

/**
 * Gathers the lines of some milliseconds and hands them on as one text: to write each by itself costs
 * more than all else that is done for it.
 */
export class LineBatch {
  readonly #write: (text: string) => void;
  readonly #maxBytes: number;
  #lines: string[] = [];
  #bytes = 0;
  #timer: NodeJS.Timeout | undefined;

  /** @param maxBytes of a text; only a line that is longer by itself makes a longer one */
  constructor(write: (text: string) => void, maxBytes = MAX_BYTES) {
    this.#write = write;
    this.#maxBytes = maxBytes;
  }

  add(line: string): void {
    const bytes = Buffer.byteLength(line);
    if (this.#bytes + bytes > this.#maxBytes) this.flush();
    this.#lines.push(line);
    this.#bytes += bytes;
    if (this.#bytes >= this.#maxBytes) this.flush();
    // A process that ends flushes: the timer need not keep it.
    else this.#timer ??= setTimeout(() => this.flush(), MAX_DELAY_MS).unref();
  }

  flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#lines.length === 0) return;
    const text = this.#lines.join('');
    this.#lines = [];
    this.#bytes = 0;
    this.#write(text);
  }
}
