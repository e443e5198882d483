import type { Cancellation } from '../../core/contract/index.js';
import { createAbortFailure } from '../shared/failures.js';

/**
 * Settles with `run`, or rejects when the signal is aborted first, so that a handler that ignores the signal
 * does not block the call. A later result or rejection of `run` is ignored.
 * @throws ProviderFailure when the signal is aborted first; otherwise the error of `run`.
 */
export function untilAborted<T>(signal: Cancellation, run: () => Promise<T>): Promise<T> {
  if (signal.aborted) return Promise.reject(createAbortFailure(signal.reason));
  return new Promise((resolve, reject) => {
    const stop = { handleEvent: () => reject(createAbortFailure(signal.reason)) };
    signal.addEventListener('abort', stop);
    run()
      .then(resolve, reject)
      .finally(() => signal.removeEventListener('abort', stop));
  });
}
