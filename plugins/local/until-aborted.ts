import type { Cancellation } from '../../core/contract/index.js';
import { createAbortFailure } from '../shared/failures.js';

/**
 * Answers with what `run` answers, or fails when the signal is aborted: a handler that ignores it does
 * not hang the call. What it does after that goes nowhere, a rejection included.
 * @throws ProviderFailure when the signal is aborted first; else whatever `run` throws.
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
