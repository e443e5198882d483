/** Nobody who reads a log waits for a line that long, and a crash of the machine costs no more lines. */
const MAX_DELAY_MS = 20;
/** What Linux holds in a pipe. */
const MAX_LENGTH = 65_536;

/**
 * Gathers the lines of some milliseconds and hands them on as one text: to write each by itself costs
 * more than all else that is done for it.
 */
export class LineBatch {
  readonly #write: (text: string) => void;
  #lines: string[] = [];
  #length = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(write: (text: string) => void) {
    this.#write = write;
  }

  add(line: string): void {
    this.#lines.push(line);
    this.#length += line.length;
    if (this.#length >= MAX_LENGTH) this.flush();
    // A process that ends flushes: the timer need not keep it.
    else this.#timer ??= setTimeout(() => this.flush(), MAX_DELAY_MS).unref();
  }

  flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#lines.length === 0) return;
    const text = this.#lines.join('');
    this.#lines = [];
    this.#length = 0;
    this.#write(text);
  }
}
