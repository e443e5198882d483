/** The queue is full, or the signal was aborted first. */
export class QueueFull extends Error {
  override readonly name = 'QueueFull';
}

interface Waiter {
  start(): void;
  reject(reason: string): void;
}

/**
 * Runs a limited number of tasks concurrently and queues a limited number. Waiting tasks are grouped into
 * shares, which take turns. A full queue rejects the newest task of the largest share, so that one share
 * cannot block the others.
 */
export class Semaphore {
  readonly #maxRunning: number;
  readonly #maxWaiting: number;
  /** In the order of their turns. */
  readonly #shares = new Map<string, Set<Waiter>>();
  #running = 0;
  #waiting = 0;

  constructor(maxRunning: number, maxWaiting: number) {
    this.#maxRunning = maxRunning;
    this.#maxWaiting = maxWaiting;
  }

  /** @throws QueueFull when too many tasks wait, or the signal is aborted before the task has started. */
  async run<T>(task: () => Promise<T>, signal: AbortSignal, share = ''): Promise<T> {
    if (this.#running >= this.#maxRunning) await this.#wait(signal, share);
    else this.#running += 1;
    try {
      return await task();
    } finally {
      this.#startNext();
    }
  }

  #wait(signal: AbortSignal, share: string): Promise<void> {
    if (signal.aborted) throw new QueueFull('no turn in time');
    if (this.#waiting >= this.#maxWaiting) this.#makeRoom(share);
    return new Promise((resolve, reject) => {
      const leave = () => {
        signal.removeEventListener('abort', onAbort);
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
      const onAbort = () => waiter.reject('no turn in time');
      signal.addEventListener('abort', onAbort);
      this.#add(share, waiter);
    });
  }

  #makeRoom(share: string): void {
    const size = this.#shares.get(share)?.size ?? 0;
    let largest: Set<Waiter> | undefined;
    for (const waiters of this.#shares.values()) {
      if (waiters.size > (largest?.size ?? size + 1)) largest = waiters;
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

  #startNext(): void {
    const [next] = this.#shares;
    const [waiter] = next?.[1] ?? [];
    if (next === undefined || waiter === undefined) {
      this.#running -= 1;
      return;
    }
    const [share, waiters] = next;
    waiter.start();
    // The share moves to the end of the queue.
    if (this.#shares.delete(share)) this.#shares.set(share, waiters);
  }
}
