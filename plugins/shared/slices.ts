import { setImmediate as nextTurn } from 'node:timers/promises';

/** The duration of a slice of work, after which other requests are served. */
const SLICE_MS = 2;

/** Handles items in order, without blocking the event loop, until `handle` returns false. */
export async function forEachInSlices<T>(
  items: Iterable<T>,
  handle: (item: T) => boolean,
): Promise<void> {
  let sliceEnd = performance.now() + SLICE_MS;
  for (const item of items) {
    if (!handle(item)) return;
    if (performance.now() < sliceEnd) continue;
    await nextTurn();
    sliceEnd = performance.now() + SLICE_MS;
  }
}
