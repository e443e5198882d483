import type { Cancellation } from './cancellation.js';

/** The queue is full, or there was no turn in time. */
export class QueueFull extends Error {
  /** The name of the class, for logs. */
  override readonly name = 'QueueFull';
}

interface AcquireOptions {
  /** Ends the wait. */
  readonly signal: Cancellation;
  /** Longest wait in milliseconds. Default: until the signal is aborted. */
  readonly timeoutMs?: number;
  /** Waiting tasks of different shares take turns. Default: one common share. */
  readonly share?: string;
}

interface Waiter {
  start(): void;
  reject(reason: string): void;
}

/**
 * Runs a bounded number of tasks at a time; a bounded number waits. Waiting tasks are grouped into shares,
 * which take turns; within a share the order is FIFO. In a full queue the largest share gives up its newest
 * task, so that no share can keep out the others.
 */
export class Semaphore {
  readonly #maxRunning: number;
  readonly #maxWaiting: number;
  /** The waiters of each share, in the order of their turns. */
  readonly #shares = new Map<string, Set<Waiter>>();
  #running = 0;
  #waiting = 0;

  /** More tasks than these are not accepted. */
  constructor(maxRunning: number, maxWaiting: number) {
    this.#maxRunning = maxRunning;
    this.#maxWaiting = maxWaiting;
  }

  get running(): number {
    return this.#running;
  }

  get waiting(): number {
    return this.#waiting;
  }

  /** @throws QueueFull when too many tasks wait, or the signal is aborted before the task has started. */
  async run<T>(task: () => Promise<T>, options: AcquireOptions): Promise<T> {
    if (!this.tryAcquire(options.share)) await this.acquire(options);
    try {
      return await task();
    } finally {
      this.release();
    }
  }

  /** Takes a free place, which `release` returns. @returns whether there was one for the share. */
  tryAcquire(share = ''): boolean {
    if (this.#running >= this.#maxRunning || !this.mayStart(share)) return false;
    this.#running += 1;
    this.onStart(share);
    return true;
  }

  /** Whether the share may take one of the free places. */
  protected mayStart(_share: string): boolean {
    return true;
  }

  /** Whether a waiting share gives up a task for the first one of the other share. */
  protected yields(_waiting: string, _share: string): boolean {
    return false;
  }

  /** Called when a task of the share takes a place. */
  protected onStart(_share: string): void {}

  /**
   * Waits for a place, which `release` returns; call `tryAcquire` first.
   * @throws QueueFull when too many tasks wait, the signal is aborted, or the time is over.
   */
  async acquire({ signal, timeoutMs, share = '' }: AcquireOptions): Promise<void> {
    if (signal.aborted) throw new QueueFull('no turn in time');
    if (this.#waiting >= this.#maxWaiting) this.#makeRoom(share);
    return new Promise((resolve, reject) => {
      const leave = () => {
        clearTimeout(timer);
        signal.removeEventListener('abort', listener);
        this.#remove(share, waiter);
      };
      const waiter: Waiter = {
        start: () => {
          leave();
          resolve();
        },
        reject: (reason) => {
          leave();
          reject(new QueueFull(reason));
        },
      };
      const expire = () => waiter.reject('no turn in time');
      const listener = { handleEvent: expire };
      const timer = timeoutMs === undefined ? undefined : setTimeout(expire, timeoutMs);
      signal.addEventListener('abort', listener);
      this.#add(share, waiter);
    });
  }

  /** Passes the place to the next waiting task that may have it. */
  release(): void {
    this.#running -= 1;
    while (this.#waiting > 0 && this.#startNext());
  }

  #makeRoom(share: string): void {
    const size = this.#shares.get(share)?.size ?? 0;
    let largest: Set<Waiter> | undefined;
    for (const [other, waiters] of this.#shares) {
      const least = size === 0 && this.yields(other, share) ? 0 : size + 1;
      if (waiters.size > (largest?.size ?? least)) largest = waiters;
    }
    if (largest === undefined) throw new QueueFull('too many wait');
    [...largest].at(-1)?.reject('too many wait');
  }

  #add(share: string, waiter: Waiter): void {
    const waiters = this.#shares.get(share) ?? new Set();
    this.#shares.set(share, waiters.add(waiter));
    this.#waiting += 1;
  }

  #remove(share: string, waiter: Waiter): void {
    const waiters = this.#shares.get(share);
    if (!waiters?.delete(waiter)) return;
    this.#waiting -= 1;
    if (waiters.size === 0) this.#shares.delete(share);
  }

  /** @returns whether a task could start */
  #startNext(): boolean {
    for (const [share, waiters] of this.#shares) {
      if (!this.tryAcquire(share)) continue;
      const [waiter] = waiters;
      waiter?.start();
      // Moves the share to the end of the queue.
      if (this.#shares.delete(share)) this.#shares.set(share, waiters);
      return true;
    }
    return false;
  }
}
