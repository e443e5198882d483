import { type FailureCode, ProviderFailure } from '../contract/index.js';
import type { ErrorDetail } from '../errors.js';

/** The least that `retry-after` can say (RFC 9110, 10.2.3: whole seconds), and be a delay. */
const MIN_RETRY_AFTER_SECONDS = 1;

/** The host itself refused the call: nothing was sent. */
export class RejectedCall extends ProviderFailure {
  /** Whole seconds, at least 1. */
  readonly retryAfterSeconds: number;
  /** What the caller is told beside the failure. */
  readonly evidence: ErrorDetail;

  constructor(failure: FailureCode, message: string, evidence: ErrorDetail, retryAfterMs = 0) {
    super(failure, message);
    this.name = 'GuardFailure';
    this.evidence = evidence;
    this.retryAfterSeconds = Math.max(MIN_RETRY_AFTER_SECONDS, Math.ceil(retryAfterMs / 1000));
  }
}

/** @param limit the setting that holds the call back, as ops write it */
export function createOverload(limit: string, message: string): RejectedCall {
  return new RejectedCall('overloaded', message, { field: 'limit', reason: limit });
}

/** Every breaker is open; `waitMs` until one lets a probe through. */
export function createOpenBreaker(waitMs: number): RejectedCall {
  const evidence = { field: 'breaker', reason: 'open' };
  return new RejectedCall('unavailable', 'every breaker of the module is open', evidence, waitMs);
}
