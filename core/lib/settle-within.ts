import { withTimeout } from './promises.js';

/** Resolves when the work has ended, well or badly, or when the time is over. */
export async function settleWithin(work: Promise<unknown>, timeoutMs: number): Promise<void> {
  // The caller asked for the end alone.
  await withTimeout(work, timeoutMs).catch(() => {});
}
