const FAILURE_BRAND = Symbol.for('modgate.provider-failure');

/**
 * Why a provider gave no answer (contract 1.7).
 * - `unavailable`: no connection, TLS refused, closed or reset before the status line
 * - `timeout`: the deadline passed
 * - `cancelled`: the caller has gone (`signal` was aborted without a deadline)
 * - `overloaded`: a limit of the host
 * - `refused`: the transport denied us
 * - `protocol`: cut short, too large, malformed
 */
export const FAILURE_CODES = [
  'unavailable',
  'timeout',
  'cancelled',
  'overloaded',
  'refused',
  'protocol',
] as const;

/** One of {@link FAILURE_CODES}. */
export type FailureCode = (typeof FAILURE_CODES)[number];

/**
 * How far the call had come when it failed. It decides which circuit breaker counts the failure.
 * - `connecting`: there was no connection yet, nothing was sent; counts for the endpoint
 * - `responding`: there was a connection, but no whole response; counts for the route
 * - `answered`: the response came and cannot be used, such as one that is too large; counts for neither
 */
export type FailurePhase = 'connecting' | 'responding' | 'answered';

/** What a {@link ProviderFailure} holds beside its code and message; `cause` is for the log. */
export interface FailureOptions extends ErrorOptions {
  /** The status that the provider had sent. Default: none. */
  readonly status?: number;
  /** Default: `responding`. */
  readonly phase?: FailurePhase;
}

/**
 * The one error that an adapter throws from `invoke`, `manifest` and `check`. Any other error counts
 * as `protocol` and is logged as a fault of the adapter. The message goes to the log, never to a caller, and
 * must name no secret; neither must `cause`.
 */
export class ProviderFailure extends Error {
  /** The brand, known to every copy of the contract. */
  readonly [FAILURE_BRAND] = true;
  /** Shown to the client; decides about retries and, with `phase`, about circuit breakers. */
  readonly failure: FailureCode;
  /** The status that the provider had sent before it failed; `null` when it had sent none. */
  readonly status: number | null;
  /** How far the call had come. */
  readonly phase: FailurePhase;

  /** @param options `cause` for the log, `status` and `phase`. */
  constructor(failure: FailureCode, message: string, options: FailureOptions = {}) {
    super(message, options);
    this.name = 'ProviderFailure';
    this.failure = failure;
    this.status = options.status ?? null;
    this.phase = options.phase ?? 'responding';
  }
}

/** Judges by brand, since a plugin may carry a copy of the contract of its own. */
export function isProviderFailure(error: unknown): error is ProviderFailure {
  return typeof error === 'object' && error !== null && FAILURE_BRAND in error;
}
