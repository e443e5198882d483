import { setImmediate as nextTurn } from 'node:timers/promises';

/**
 * The duration of a slice of work. Other requests are served between two slices; each of them takes
 * several turns of the event loop.
 */
const SLICE_MS = 2;

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
