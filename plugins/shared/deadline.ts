import { ProviderFailure } from '../../core/contract/index.js';

/**
 * Runs with a signal that is aborted with `signal`, and as a `timeout` after `timeoutMs`. Use it instead of
 * `AbortSignal.any` with `AbortSignal.timeout`: garbage collection ends such a timeout (nodejs/node#57736).
 */
export async function withDeadline<T>(
  signal: AbortSignal,
  timeoutMs: number,
  run: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const controller = new AbortController();
  const relay = () => controller.abort(signal.reason);
  const timer = setTimeout(
    () => controller.abort(new ProviderFailure('timeout', `no response within ${timeoutMs} ms`)),
    timeoutMs,
  );
  if (signal.aborted) relay();
  else signal.addEventListener('abort', relay);
  try {
    return await run(controller.signal);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', relay);
  }
}
