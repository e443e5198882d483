import type { Log } from '../contract/index.js';
import type { ErrorOwner } from './error-owner.js';

/** A timer may throw for ever: what it throws is counted, and logged no more often than this. */
const LOG_INTERVAL_MS = 1000;

/** The errors of somebody's code that nobody caught. */
export class UncaughtErrors implements ErrorOwner {
  readonly #log: Log;
  /** What the log says of them. */
  readonly #message: string;
  #count = 0;
  #first: { readonly error: unknown } | null = null;
  #loggedAt = Number.NEGATIVE_INFINITY;
  /** Called after each has been counted. */
  onError: (() => void) | null = null;

  constructor(log: Log, message: string) {
    this.#log = log;
    this.#message = message;
  }

  get count(): number {
    return this.#count;
  }

  /** `null` as long as there was none. */
  get first(): { readonly error: unknown } | null {
    return this.#first;
  }

  readonly report = (error: unknown): void => {
    this.#count += 1;
    this.#first ??= { error };
    const now = performance.now();
    if (now - this.#loggedAt >= LOG_INTERVAL_MS) {
      this.#loggedAt = now;
      this.#log.error({ err: error, count: this.#count }, this.#message);
    }
    this.onError?.();
  };
}
