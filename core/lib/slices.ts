import { setImmediate } from 'node:timers/promises';

/**
 * The duration of a slice of work. Other requests are served between two slices; each of them takes
 * several turns of the event loop.
 */
const SLICE_MS = 2;

/** Resolves in the next turn of the event loop, after requests that are waiting. */
export function nextTurn(): Promise<void> {
  return setImmediate();
}

/** Handles items in order, without blocking the event loop. A short list is handled at once. */
export async function forEachInSlices<T>(
  items: Iterable<T>,
  handle: (item: T) => void,
): Promise<void> {
  let sliceEnd = performance.now() + SLICE_MS;
  for (const item of items) {
    handle(item);
    if (performance.now() < sliceEnd) continue;
    await nextTurn();
    sliceEnd = performance.now() + SLICE_MS;
  }
}

/**
 * Lets tasks that run side by side share slices.
 * @returns resolves at once within a slice; after it, each caller waits for a turn of its own
 */
export function createTurns(): () => Promise<void> {
  let sliceEnd = 0;
  let last: Promise<void> = Promise.resolve();
  return () => {
    if (performance.now() >= sliceEnd) {
      last = last.then(nextTurn).then(() => {
        sliceEnd = performance.now() + SLICE_MS;
      });
    }
    return last;
  };
}
