import { type FailureCode, ProviderFailure } from '../contract/index.js';
import type { ErrorDetail } from '../errors.js';

/** The longest time that every client can read (RFC 9111, 1.2.2). */
const MAX_RETRY_SECONDS = 2_147_483_647;

/** `retry-after` counts whole seconds (RFC 9110, 10.2.3); at least 1. */
export function toRetryAfterSeconds(ms: number): number {
  return Math.max(1, Math.min(Math.ceil(ms / 1000), MAX_RETRY_SECONDS));
}

/** The host rejected the call. Nothing was sent, unless it has the status of a response. */
export class RejectedCall extends ProviderFailure {
  /** Whole seconds, at least 1. */
  readonly retryAfterSeconds: number;
  /** The details for the client in addition to the failure. */
  readonly evidence: ErrorDetail;

  constructor(
    failure: FailureCode,
    message: string,
    evidence: ErrorDetail,
    retryAfterMs = 0,
    status: number | null = null,
  ) {
    super(failure, message, status === null ? {} : { status });
    this.name = 'RejectedCall';
    this.evidence = evidence;
    this.retryAfterSeconds = toRetryAfterSeconds(retryAfterMs);
  }
}

/** Returns the rejection for a response with this status that exceeds a memory budget. */
export function withStatus(rejected: RejectedCall, status: number | null): RejectedCall {
  const { failure, message, evidence } = rejected;
  return new RejectedCall(failure, message, evidence, 0, status);
}

/** @param limit the reached setting, as operators write it */
export function createOverload(limit: string, message: string): RejectedCall {
  return new RejectedCall('overloaded', message, { field: 'limit', reason: limit });
}

/**
 * @param waitMs the time until a breaker admits a probe
 * @param failure the failure that opened it
 */
export function createOpenBreaker(waitMs: number, failure: string | null): RejectedCall {
  const evidence = { field: 'breaker', reason: 'open' };
  const message = `circuit breaker open${failure === null ? '' : ` after ${failure}`}`;
  return new RejectedCall('unavailable', message, evidence, waitMs);
}
