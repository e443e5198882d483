import type { Log, Scope } from '../contract/index.js';
import { LazyAbortController } from '../lib/lazy-abort-controller.js';
import { withTimeout } from '../lib/promises.js';
import { type ErrorOwner, runAs } from './error-owner.js';

// An undo that hangs must not hold up the others, nor the host's exit.
const UNDO_TIMEOUT_MS = 2000;

type Undo = () => void | Promise<void>;

export class ModuleScope implements Scope {
  readonly #log: Log;
  readonly #owner: ErrorOwner | null;
  /** Most adapters never ask for the signal. */
  readonly #source = new LazyAbortController();
  readonly #undos: Undo[] = [];
  #closed: Promise<void> | null = null;

  /** @param owner who answers for what is run when it closes; `null`: nobody but the host */
  constructor(log: Log, owner: ErrorOwner | null = null) {
    this.#log = log;
    this.#owner = owner;
  }

  get signal(): AbortSignal {
    return this.#source.signal;
  }

  /** A property, since an adapter may well hand it on without its scope. */
  readonly defer = (undo: Undo): void => {
    if (this.#closed === null) this.#undos.push(undo);
    // Nobody is left to await it; `run` has caught everything.
    else void this.#run(undo);
  };

  /** Runs every registered undo once, last in, first out; never throws. Later calls await the first. */
  close(): Promise<void> {
    this.#closed ??= this.#closeAll();
    return this.#closed;
  }

  async #closeAll(): Promise<void> {
    runAs(this.#owner, () => this.#source.abort());
    for (let undo = this.#undos.pop(); undo !== undefined; undo = this.#undos.pop()) {
      await this.#run(undo);
    }
  }

  async #run(undo: Undo): Promise<void> {
    try {
      await withTimeout(runAs(this.#owner, undo), UNDO_TIMEOUT_MS);
    } catch (error) {
      this.#log.warn({ err: error }, 'an undo of the module failed');
    }
  }
}
