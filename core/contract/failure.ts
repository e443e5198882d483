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
 * The one error that an adapter throws from `invoke`, `manifest` and `check`. Any other error counts
 * as `protocol` and is logged as a fault of the adapter. The message goes to the log, never to a caller, and
 * must name no secret; neither must `cause`.
 */
export class ProviderFailure extends Error {
  /** The brand, known to every copy of the contract. */
  readonly [FAILURE_BRAND] = true;
  /** What the caller of the host is told, and what breakers and retries go by (contract 9). */
  readonly failure: FailureCode;
  /** The status that the provider had sent before it failed; `null` when it had sent none. */
  readonly status: number | null;

  /** @param options `cause` for the log; `status` where the provider had sent one. Default neither. */
  constructor(
    failure: FailureCode,
    message: string,
    options: ErrorOptions & { readonly status?: number } = {},
  ) {
    super(message, options);
    this.name = 'ProviderFailure';
    this.failure = failure;
    this.status = options.status ?? null;
  }
}

/** Judges by brand, since a plugin may carry a copy of the contract of its own. */
export function isProviderFailure(error: unknown): error is ProviderFailure {
  return typeof error === 'object' && error !== null && FAILURE_BRAND in error;
}
