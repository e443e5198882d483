import { setTimeout as delay } from 'node:timers/promises';
import { backoffMs } from '../lib/backoff.js';

// Long enough for another worker's write and checkpoint, short enough for a caller who waits for the answer.
const RETRY_TIMEOUT_MS = 2000;
// A write takes about a millisecond (docs/benchmarks.md).
const BACKOFF = { firstMs: 2, maxMs: 50 };

/** Tries again for two seconds while another host is in the way, without holding up the event loop. */
export async function retryContended<T>(
  work: () => Promise<T>,
  isContended: (error: unknown) => boolean,
): Promise<T> {
  // Not by the wall clock: one that is set back by a day would make this a day of trying.
  const deadline = performance.now() + RETRY_TIMEOUT_MS;
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work();
    } catch (error) {
      if (!isContended(error) || performance.now() >= deadline) throw error;
    }
    await delay(backoffMs(attempt, BACKOFF));
  }
}
