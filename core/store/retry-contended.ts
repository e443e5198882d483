import { setTimeout as pause } from 'node:timers/promises';
import { backoffMs } from '../lib/backoff.js';

// Long enough for another worker's write and checkpoint, short enough for a waiting caller.
const RETRY_TIMEOUT_MS = 2000;
// A write takes about a millisecond (docs/benchmarks.md).
const BACKOFF = { firstMs: 2, maxMs: 50 };

/** Retries conflicts with other hosts for two seconds, without blocking the event loop. */
export async function retryContended<T>(
  work: () => Promise<T>,
  isContended: (error: unknown) => boolean,
): Promise<T> {
  // Monotonic: a wall clock that is set back by a day would extend this by a day.
  const deadline = performance.now() + RETRY_TIMEOUT_MS;
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work();
    } catch (error) {
      if (!isContended(error) || performance.now() >= deadline) throw error;
    }
    await pause(backoffMs(attempt, BACKOFF));
  }
}
