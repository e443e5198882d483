import type { Log } from '../contract/index.js';
import { createLogInterval } from '../log/log-interval.js';
import type { ErrorOwner } from './error-owner.js';

// A timer may throw repeatedly. All errors are counted, but at most one per interval is logged.
const LOG_INTERVAL_MS = 1000;

/** Counts and logs the uncaught errors of one piece of third-party code. */
export class UncaughtErrors implements ErrorOwner {
  readonly #log: Log;
  readonly #message: string;
  #count = 0;
  #first: { readonly error: unknown } | null = null;
  readonly #mayLog = createLogInterval(LOG_INTERVAL_MS);
  /** Called after each error has been counted. */
  onError: (() => void) | null = null;

  /** @param message the message of the log lines */
  constructor(log: Log, message: string) {
    this.#log = log;
    this.#message = message;
  }

  get count(): number {
    return this.#count;
  }

  /** The first error; `null` if there was none. */
  get first(): { readonly error: unknown } | null {
    return this.#first;
  }

  readonly report = (error: unknown): void => {
    this.#count += 1;
    this.#first ??= { error };
    if (this.#mayLog()) this.#log.error({ err: error, count: this.#count }, this.#message);
    this.onError?.();
  };
}
