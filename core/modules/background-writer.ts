import type { Log } from '../contract/index.js';

/** The interval of retries: a full disk may have space again, and a folder its permissions. */
const RETRY_MS = 2000;

interface BackgroundWriterOptions {
  /** `null` removes the file. */
  readonly write: (file: string, text: string | null) => Promise<void>;
  readonly log: Log;
  /** Logged when a write fails, once until all files are written. */
  readonly failed: string;
  /** Logged when all files are written again. */
  readonly recovered: string;
}

/**
 * Writes files in the background, one after another. It holds only the newest text of each file,
 * and retries until it is written.
 */
export class BackgroundWriter {
  readonly #options: BackgroundWriterOptions;
  readonly #waiting = new Map<string, string | null>();
  #work: Promise<void> | null = null;
  #retry: NodeJS.Timeout | undefined;
  #start: Promise<void> = Promise.resolve();
  #hasFailed = false;

  constructor(options: BackgroundWriterOptions) {
    this.#options = options;
  }

  /** The unwritten text; `undefined` for none. */
  find(file: string): string | null | undefined {
    return this.#waiting.get(file);
  }

  /** @param text `null` removes the file */
  set(file: string, text: string | null): void {
    // Added last, so that files that cannot be written do not delay the others.
    this.#waiting.delete(file);
    this.#waiting.set(file, text);
    this.#work ??= this.#writeAll();
  }

  /** Writes nothing until the promise settles, which must not depend on a write. */
  defer(until: Promise<unknown>): void {
    const begin = () => {};
    this.#start = until.then(begin, begin);
  }

  /** Drops the pending texts of other files. */
  keepOnly(files: ReadonlySet<string>): void {
    for (const file of this.#waiting.keys()) if (!files.has(file)) this.#waiting.delete(file);
  }

  /** Logs an error of other work in the same folder. */
  readonly report = (error: unknown, file?: string): void => {
    if (this.#hasFailed) return;
    this.#hasFailed = true;
    const { log, failed } = this.#options;
    log.warn({ err: error, ...(file !== undefined && { file }) }, failed);
  };

  /** Resolves when every pending file has been tried. */
  async flush(): Promise<void> {
    await this.#work;
  }

  /** Never rejects. */
  async #writeAll(): Promise<void> {
    clearTimeout(this.#retry);
    await this.#start;
    const failed = new Map<string, string | null>();
    for (let next = this.#next(failed); next !== null; next = this.#next(failed)) {
      const [file, text] = next;
      try {
        await this.#options.write(file, text);
        // A newer text is written in the next round.
        if (this.#waiting.get(file) === text) this.#waiting.delete(file);
      } catch (error) {
        failed.set(file, text);
        this.report(error, file);
      }
    }
    this.#work = null;
    if (this.#waiting.size > 0) this.#tryLater();
    else this.#reportRecovered();
  }

  /** Returns the next file whose newest text has not failed in this round. */
  #next(
    failed: ReadonlyMap<string, string | null>,
  ): readonly [file: string, text: string | null] | null {
    for (const entry of this.#waiting) {
      if (!failed.has(entry[0]) || failed.get(entry[0]) !== entry[1]) return entry;
    }
    return null;
  }

  #tryLater(): void {
    const retry = () => {
      if (this.#waiting.size > 0) this.#work ??= this.#writeAll();
    };
    this.#retry = setTimeout(retry, RETRY_MS).unref();
  }

  #reportRecovered(): void {
    if (!this.#hasFailed) return;
    this.#hasFailed = false;
    this.#options.log.info({}, this.#options.recovered);
  }
}
