import type { Performance } from 'node:perf_hooks';

/** A top-level `await` that never ends must not block others. */
const WAIT_TIMEOUT_MS = 5_000;
/** A loop must end, but a busy machine or a small CPU quota must not fail an import. */
const IMPORT_TIMEOUT_MS = 25_000;
const CHECK_MS = 100;

/**
 * Calls back, with the exceeded limit, once a thread that imports code has waited for something for 5 s, or has not
 * ended the import after 25 s.
 * @param thread `performance` of this thread, or of a new worker
 * @returns ends it
 */
export function limitImport(
  thread: Pick<Performance, 'eventLoopUtilization'>,
  onLate: (limitMs: number) => void,
): () => void {
  const startedAt = performance.now();
  const before = thread.eventLoopUtilization();
  const timer = setInterval(() => {
    // Excludes the time in which the thread computes, or gets no CPU time.
    const hasWaited = thread.eventLoopUtilization().idle - before.idle >= WAIT_TIMEOUT_MS;
    if (!hasWaited && performance.now() - startedAt < IMPORT_TIMEOUT_MS) return;
    clearInterval(timer);
    onLate(hasWaited ? WAIT_TIMEOUT_MS : IMPORT_TIMEOUT_MS);
  }, CHECK_MS);
  return () => clearInterval(timer);
}

/** Imports code in this thread. */
export async function importInTime(
  url: string,
  createLateError: (limitMs: number) => Error,
): Promise<unknown> {
  let endLimit = () => {};
  const late = new Promise<never>((_resolve, reject) => {
    endLimit = limitImport(performance, (limitMs) => reject(createLateError(limitMs)));
  });
  try {
    return await Promise.race([import(url), late]);
  } finally {
    endLimit();
  }
}
