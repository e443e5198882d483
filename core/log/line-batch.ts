/** Limits the delay of a line, and the loss in a crash of the machine. */
const MAX_DELAY_MS = 20;
/** Capacity of a pipe on Linux. */
const MAX_BYTES = 65_536;

/**
 * Batches the lines of some milliseconds, because a system call is the largest part of the cost of a line.
 * Kept as bytes, since the garbage collector would copy waiting strings.
 */
export class LineBatch {
  readonly #write: (lines: Buffer) => void;
  readonly #bytes: Buffer;
  #used = 0;
  #timer: NodeJS.Timeout | undefined;

  /** @param maxBytes limit for each write; only a single longer line exceeds it */
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
    // Unreferenced: the process flushes when it exits.
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
