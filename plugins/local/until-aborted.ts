import {
  type Cancellation,
  isProviderFailure,
  ProviderFailure,
} from '../../core/contract/index.js';

/**
 * Answers with what `run` answers, or fails when the signal is aborted: a handler that ignores it does
 * not hang the call. What it does after that goes nowhere, a rejection included.
 * @throws ProviderFailure when the signal is aborted first; else whatever `run` throws.
 */
export function untilAborted<T>(signal: Cancellation, run: () => Promise<T>): Promise<T> {
  if (signal.aborted) return Promise.reject(toFailure(signal.reason));
  return new Promise((resolve, reject) => {
    const stop = { handleEvent: () => reject(toFailure(signal.reason)) };
    signal.addEventListener('abort', stop);
    run()
      .then(resolve, reject)
      .finally(() => signal.removeEventListener('abort', stop));
  });
}

function toFailure(reason: unknown): ProviderFailure {
  if (isProviderFailure(reason)) return reason;
  const isTimeout = reason instanceof DOMException && reason.name === 'TimeoutError';
  return isTimeout
    ? new ProviderFailure('timeout', 'deadline passed', { cause: reason })
    : new ProviderFailure('cancelled', 'call was taken back', { cause: reason });
}
