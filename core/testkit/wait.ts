import { AssertionError } from 'node:assert';
import { setTimeout as pause } from 'node:timers/promises';

/** Timers, sockets, servers and requests of this process that keep it alive. */
export function countHandles(): number {
  return process.getActiveResourcesInfo().length;
}

const POLL_MS = 5;

/** Waits for what must happen, and fails in words when it does not. */
export class Wait {
  readonly ms: number;

  constructor(ms: number) {
    this.ms = ms;
  }

  /**
   * What `work` settles as.
   * @throws AssertionError when it does not settle in time; else whatever `work` throws.
   */
  async settles<T>(what: string, work: Promise<T>): Promise<T> {
    let timer: NodeJS.Timeout | undefined;
    const tooLate = new Promise<never>((_resolve, reject) => {
      timer = setTimeout(
        () => reject(new AssertionError({ message: `${what} did not settle in ${this.ms} ms` })),
        this.ms,
      );
    });
    try {
      return await Promise.race([work, tooLate]);
    } finally {
      clearTimeout(timer);
    }
  }

  /** @throws AssertionError when `holds` never answers true in time. */
  async eventually(what: string, holds: () => boolean | Promise<boolean>): Promise<void> {
    const end = performance.now() + this.ms;
    while (!(await holds())) {
      if (performance.now() > end) {
        throw new AssertionError({ message: `${what} did not come to hold in ${this.ms} ms` });
      }
      // Not a handle: a clause may count those. The timer of the clause keeps the process alive.
      await pause(POLL_MS, undefined, { ref: false });
    }
  }
}
