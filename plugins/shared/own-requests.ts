import { joinBody, type Outcome, ProviderFailure } from '../../core/contract/index.js';

/** Limits of the requests that an adapter sends without a caller: manifest and health check. */
export const MANIFEST_TIMEOUT_MS = 5_000;
export const MAX_MANIFEST_BYTES = 4 * 1_048_576;

/**
 * @param request the name for operators: `GET /manifest.json`
 * @throws ProviderFailure `unavailable` unless the status is 2xx.
 */
export function readManifestResponse(request: string, { status, body }: Outcome): Uint8Array {
  assertSuccess(request, status);
  return joinBody(body);
}

/** @throws ProviderFailure `unavailable` unless the status is 2xx. */
export function assertSuccess(request: string, status: number): void {
  if (isSuccess(status)) return;
  throw new ProviderFailure('unavailable', `${request} answered ${status}`, { status });
}

export function isSuccess(status: number): boolean {
  return status >= 200 && status <= 299;
}
