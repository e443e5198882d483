import type { Owner } from '../../descriptor/sections/owner.js';
import { createUnavailable, type ErrorDetail, type HostError } from '../../errors.js';
import { RejectedCall } from '../../provider/rejected-call.js';
import type { CallerRequest } from '../request.js';
import { createFailureError } from './provider-error.js';

/**
 * Converts a rejection by a limit before the provider call to a 502; other errors stay unchanged.
 */
export function translateOverload(
  error: unknown,
  call: readonly ErrorDetail[],
  owner?: Owner,
): unknown {
  return error instanceof RejectedCall ? createFailureError(error, call, owner) : error;
}

/**
 * Counts a response of the host itself.
 * @param isReserved whether it may use the reserve: probes and metrics must work beyond the budget
 * @throws RejectedCall beyond a memory budget.
 */
export function reserveReplyMemory(
  { held }: CallerRequest,
  length: number,
  { isReserved = false }: { readonly isReserved?: boolean } = {},
): void {
  if (held === undefined || length <= held.bytes) return;
  const rejection = held.reserve(length - held.bytes, isReserved);
  if (rejection !== null) throw rejection;
}

/** Creates a 503 for a request to the host itself. */
export function createOverloadError(rejected: RejectedCall): HostError {
  return createUnavailable('the host holds too much data of other requests', {
    step: 'host',
    errors: [rejected.evidence],
    headers: { 'retry-after': String(rejected.retryAfterSeconds) },
    cause: rejected,
  });
}
