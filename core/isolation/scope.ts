import type { Log, Scope } from '../contract/index.js';
import { LazyAbortController } from '../lib/lazy-abort-controller.js';
import { withTimeout } from '../lib/promises.js';
import { type ErrorOwner, runAs } from './error-owner.js';

// A cleanup that hangs must not delay the others or the exit of the host.
const CLEANUP_TIMEOUT_MS = 2000;

/**
 * A limit, because a plugin that registers a cleanup for each call would fill the memory of the
 * host.
 */
const MAX_CLEANUPS = 100_000;

type Cleanup = () => void | Promise<void>;

export class ModuleScope implements Scope {
  readonly #log: Log;
  readonly #owner: ErrorOwner | null;
  /** Lazy, because most adapters never read the signal. */
  readonly #controller = new LazyAbortController();
  readonly #cleanups: Cleanup[] = [];
  #closed: Promise<void> | null = null;

  /** @param owner the owner of the code that runs on close; `null` for the host's own code */
  constructor(log: Log, owner: ErrorOwner | null = null) {
    this.#log = log;
    this.#owner = owner;
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** A property, so that an adapter can pass it on without its scope. */
  readonly defer = (cleanup: Cleanup): void => {
    if (this.#cleanups.length >= MAX_CLEANUPS) {
      throw new Error(`a scope has at most ${MAX_CLEANUPS} cleanups: register one for all calls`);
    }
    if (this.#closed === null) this.#cleanups.push(cleanup);
    // Not awaited, because the scope is closed; `#run` never rejects.
    else void this.#run(cleanup);
  };

  /** Runs every registered cleanup once, last in, first out. Never rejects. Later calls await the first. */
  close(): Promise<void> {
    this.#closed ??= this.#closeAll();
    return this.#closed;
  }

  async #closeAll(): Promise<void> {
    runAs(this.#owner, () => this.#controller.abort());
    let cleanup = this.#cleanups.pop();
    while (cleanup !== undefined) {
      await this.#run(cleanup);
      cleanup = this.#cleanups.pop();
    }
  }

  async #run(cleanup: Cleanup): Promise<void> {
    try {
      await withTimeout(runAs(this.#owner, cleanup), CLEANUP_TIMEOUT_MS);
    } catch (error) {
      this.#log.warn({ err: error }, 'cleanup failed');
    }
  }
}
