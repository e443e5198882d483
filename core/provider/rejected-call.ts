import { type FailureCode, ProviderFailure } from '../contract/index.js';
import type { ErrorDetail } from '../errors.js';

/** The least that `retry-after` can say (RFC 9110, 10.2.3: whole seconds), and be a delay. */
const LEAST_RETRY_AFTER_SECONDS = 1;

/** The host itself refused the call: nothing was sent. */
export class GuardFailure extends ProviderFailure {
  /** Whole seconds, at least 1. */
  readonly retryAfterSeconds: number;
  /** What the caller is told beside the failure. */
  readonly evidence: ErrorDetail;

  constructor(failure: FailureCode, message: string, evidence: ErrorDetail, retryAfterMs = 0) {
    super(failure, message);
    this.name = 'GuardFailure';
    this.evidence = evidence;
    this.retryAfterSeconds = Math.max(LEAST_RETRY_AFTER_SECONDS, Math.ceil(retryAfterMs / 1000));
  }
}

/** @param limit the setting that holds the call back, as ops write it */
export function createOverload(limit: string, message: string): GuardFailure {
  return new GuardFailure('overloaded', message, { field: 'limit', reason: limit });
}

/** Every breaker is open; `waitMs` until one lets a probe through. */
export function createOpenBreaker(waitMs: number): GuardFailure {
  const evidence = { field: 'breaker', reason: 'open' };
  return new GuardFailure('unavailable', 'every breaker of the module is open', evidence, waitMs);
}
