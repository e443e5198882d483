// Not the whole contract: what a thread imports delays its start.
import { isProviderFailure, ProviderFailure } from '../../core/contract/failure.js';
import type { Cancellation } from '../../core/contract/index.js';

/**
 * Answers with what `run` answers, or fails when the signal is aborted: a handler that ignores it does
 * not hang the call. What it does after that goes nowhere, a rejection included.
 * @throws ProviderFailure when the signal is aborted first; else whatever `run` throws.
 */
export function untilAborted<T>(signal: Cancellation, run: () => Promise<T>): Promise<T> {
  if (signal.aborted) return Promise.reject(failureOfAbort(signal.reason));
  return new Promise((resolve, reject) => {
    const stop = { handleEvent: () => reject(failureOfAbort(signal.reason)) };
    signal.addEventListener('abort', stop);
    run()
      .then(resolve, reject)
      .finally(() => signal.removeEventListener('abort', stop));
  });
}

/** What the host took a call back with, as the failure that it stands for. */
export function failureOfAbort(reason: unknown): ProviderFailure {
  if (isProviderFailure(reason)) return reason;
  const isTimeout = reason instanceof DOMException && reason.name === 'TimeoutError';
  return isTimeout
    ? new ProviderFailure('timeout', 'deadline passed', { cause: reason })
    : new ProviderFailure('cancelled', 'call was taken back', { cause: reason });
}
