import type { Cancellation } from '../contract/index.js';

/**
 * Rejects when the work is not done in time. The work continues; its result is then ignored.
 * @param createError creates the reason of the rejection
 */
export async function withTimeout<T>(
  work: T | Promise<T>,
  timeoutMs: number,
  createError = () => new Error(`not done after ${timeoutMs} ms`),
): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(createError()), timeoutMs);
  });
  try {
    return await Promise.race([work, timeout]);
  } finally {
    clearTimeout(timer);
  }
}

/** Rejects when the signal is aborted. The work continues; its result is then ignored. */
export function rejectOnAbort<T>(work: Promise<T>, signal: Cancellation): Promise<T> {
  return new Promise((resolve, reject) => {
    const listener = { handleEvent: () => reject(signal.reason) };
    const settle = () => signal.removeEventListener('abort', listener);
    signal.addEventListener('abort', listener);
    work.finally(settle).then(resolve, reject);
  });
}

/** Continues at once with a value that need not be waited for. */
export function andThen<T, R>(
  value: T | Promise<T>,
  next: (value: T) => R | Promise<R>,
): R | Promise<R> {
  return value instanceof Promise ? value.then(next) : next(value);
}

/** Resolves when the work has settled or the time is over. */
export async function settleWithin(work: Promise<unknown>, timeoutMs: number): Promise<void> {
  // Callers only wait for the end.
  await withTimeout(work, timeoutMs).catch(() => {});
}

/** Maps in order, `limit` at a time. The first rejection rejects; running work continues and is ignored. */
export async function mapConcurrently<T, R>(
  items: readonly T[],
  limit: number,
  map: (item: T, index: number) => Promise<R>,
): Promise<R[]> {
  const results = new Array<R>(items.length);
  let next = 0;
  const work = async () => {
    while (next < items.length) {
      const index = next++;
      results[index] = await map(items[index] as T, index);
    }
  };
  await Promise.all(Array.from({ length: Math.min(limit, items.length) }, work));
  return results;
}
