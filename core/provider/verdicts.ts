import type { ProviderFailure } from '../contract/index.js';
import type { BreakerVerdict } from './circuit-breaker.js';

/** The result of an attempt for the breaker of its endpoint, and for that of its route there. */
export interface AttemptVerdict {
  readonly endpoint: BreakerVerdict;
  readonly route: BreakerVerdict;
}

/** From this status on, a response is a failure of the route. */
export const MIN_SERVER_ERROR = 500;

/**
 * The status of a response counts for its route only, so that one bad route does not close a
 * module.
 */
export const VERDICTS = {
  /** Canceled, denied by the transport, or rejected by a limit. */
  uncounted: { endpoint: 'neutral', route: 'neutral' },
  unreachable: { endpoint: 'failure', route: 'neutral' },
  /** Timed out, or failed without a complete response. */
  incomplete: { endpoint: 'neutral', route: 'failure' },
  /** Failed after the status line. */
  cutShort: { endpoint: 'success', route: 'failure' },
  serverError: { endpoint: 'success', route: 'failure' },
  /** The response is not JSON, encoded, a redirect, malformed or too large. */
  unusable: { endpoint: 'success', route: 'neutral' },
  answered: { endpoint: 'success', route: 'success' },
} as const satisfies Record<string, AttemptVerdict>;

/** @param isUsable whether the response can be passed to the client */
export function verdictOfResponse(status: number, isUsable: boolean): AttemptVerdict {
  if (status >= MIN_SERVER_ERROR) return VERDICTS.serverError;
  return isUsable ? VERDICTS.answered : VERDICTS.unusable;
}

/** The verdict on an attempt without a response. */
export function verdictOfFailure({ failure, status, phase }: ProviderFailure): AttemptVerdict {
  if (phase === 'preparing') return VERDICTS.uncounted;
  if (failure === 'unavailable') return VERDICTS.unreachable;
  if (failure !== 'timeout' && failure !== 'protocol') return VERDICTS.uncounted;
  if (phase === 'connecting') return VERDICTS.unreachable;
  if (phase === 'answered') return VERDICTS.unusable;
  return status === null ? VERDICTS.incomplete : VERDICTS.cutShort;
}
