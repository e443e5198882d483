import type { Cancellation } from '../contract/index.js';
import type { Limits } from '../descriptor/descriptor.js';
import { createOverload } from './rejected-call.js';

/** Limits the concurrent calls of a module, with a short FIFO queue, so that a hanging module cannot fill the host. */
export class Bulkhead {
  readonly #limits: Pick<Limits, 'concurrency' | 'queue' | 'queueMs'>;
  readonly #waiting = new Set<Waiter>();
  #inFlight = 0;

  constructor(limits: Pick<Limits, 'concurrency' | 'queue' | 'queueMs'>) {
    this.#limits = limits;
  }

  get inFlight(): number {
    return this.#inFlight;
  }

  get queued(): number {
    return this.#waiting.size;
  }

  /** Takes a place if one is free; `leave` returns it. */
  tryEnter(): boolean {
    if (this.#inFlight >= this.#limits.concurrency) return false;
    this.#inFlight += 1;
    return true;
  }

  /**
   * Waits for a place, which `leave` returns.
   * @throws RejectedCall `overloaded` when the queue is full or no place is free in time; the reason of the
   * signal when it is aborted.
   */
  async wait(signal: Cancellation): Promise<void> {
    if (signal.aborted) throw signal.reason;
    const { queue, queueMs } = this.#limits;
    if (queueMs === 0 || this.#waiting.size >= queue) throw createFull('the queue is full');
    return new Promise((resolve, reject) => {
      const waiter = new Waiter(signal, queueMs, resolve, (error) => {
        this.#waiting.delete(waiter);
        reject(error);
      });
      this.#waiting.add(waiter);
    });
  }

  /** Passes the place to the call that has waited longest. */
  leave(): void {
    const next = this.#waiting.size === 0 ? undefined : this.#waiting.values().next().value;
    if (next === undefined) {
      this.#inFlight -= 1;
      return;
    }
    this.#waiting.delete(next);
    next.enter();
  }
}

class Waiter {
  readonly #signal: Cancellation;
  readonly #resolve: () => void;
  readonly #giveUp: (reason: unknown) => void;
  readonly #timer: NodeJS.Timeout;

  constructor(
    signal: Cancellation,
    waitMs: number,
    resolve: () => void,
    giveUp: (reason: unknown) => void,
  ) {
    this.#signal = signal;
    this.#resolve = resolve;
    this.#giveUp = giveUp;
    this.#timer = setTimeout(() => this.#fail(createFull(`no turn in ${waitMs} ms`)), waitMs);
    signal.addEventListener('abort', this);
  }

  handleEvent(): void {
    this.#fail(this.#signal.reason);
  }

  enter(): void {
    this.#end();
    this.#resolve();
  }

  #fail(reason: unknown): void {
    this.#end();
    this.#giveUp(reason);
  }

  #end(): void {
    clearTimeout(this.#timer);
    this.#signal.removeEventListener('abort', this);
  }
}

function createFull(what: string) {
  return createOverload('limits.concurrency', `the module is at its limit, ${what}`);
}
