import { AssertionError } from 'node:assert';
import { setTimeout as pause } from 'node:timers/promises';
import { withTimeout } from '../lib/promises.js';

/** Counts the timers, sockets, servers and requests that keep this process alive. */
export function countHandles(): number {
  return process.getActiveResourcesInfo().length;
}

const POLL_MS = 5;

/** Waits with a timeout and fails with a readable message. */
export class Wait {
  readonly ms: number;

  constructor(ms: number) {
    this.ms = ms;
  }

  /**
   * Resolves or rejects like `work`.
   * @throws AssertionError when it does not settle in time.
   */
  settles<T>(subject: string, work: Promise<T>): Promise<T> {
    const message = `${subject} did not settle within ${this.ms} ms`;
    return withTimeout(work, this.ms, () => new AssertionError({ message }));
  }

  /** @throws AssertionError when `condition` does not return true in time. */
  async eventually(subject: string, condition: () => boolean | Promise<boolean>): Promise<void> {
    const end = performance.now() + this.ms;
    while (!(await condition())) {
      if (performance.now() > end) {
        throw new AssertionError({ message: `${subject} did not happen within ${this.ms} ms` });
      }
      // Unref'd, because a clause may count handles. The clause's own timer keeps the process alive.
      await pause(POLL_MS, undefined, { ref: false });
    }
  }
}
