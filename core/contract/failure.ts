const FAILURE_BRAND = Symbol.for('modgate.provider-failure');

/**
 * Why a provider call failed.
 * - `unavailable`: no connection, TLS refused, closed or reset before the status line
 * - `timeout`: the deadline passed
 * - `cancelled`: the client closed the connection
 * - `overloaded`: a limit of the host
 * - `refused`: the transport denied the call
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
 * The progress of the call when it failed. It decides which circuit breaker counts the failure.
 * - `preparing`: the adapter could not get the credentials of the request, and nothing was sent;
 * counts for no breaker and is not retried. With the code `refused` there are none for this caller,
 * who gets a 403
 * - `connecting`: nothing was sent, because there was no connection; counts for the endpoint.
 * `unavailable` is then repeated at another endpoint, whatever the method
 * - `sending`: a part of the request was sent, and no byte of a response has arrived; counts for the
 * route
 * - `responding`: the request was sent, but there was no complete response; counts for the route,
 * `unavailable` for the endpoint
 * - `answered`: the response arrived and is unusable, such as one that is too large; counts for
 * neither
 */
export type FailurePhase = 'preparing' | 'connecting' | 'sending' | 'responding' | 'answered';

/**
 * The members of a {@link ProviderFailure} besides its code and message; `cause` is for the log.
 */
export interface FailureOptions extends ErrorOptions {
  /** The status that the provider had sent. Default: none. */
  readonly status?: number;
  /** Default: `responding`. */
  readonly phase?: FailurePhase;
  /**
   * The details for operators: `ECONNREFUSED 127.0.0.1:4100`. The host shows up to 200 characters
   * in log, call records and traces, never to the client. It may contain the address of the
   * endpoint and the response's status, `content-type` and `content-encoding`: no secret, no other
   * header, no byte of a body. Default: the message.
   */
  readonly detail?: string;
}

/**
 * The error that an adapter throws from `invoke`, `manifest` and `check`. Any other error counts as
 * `protocol` and is logged as an error of the adapter. The message is logged and never sent to a client.
 * Message, `detail` and `cause` must not contain a secret.
 */
export class ProviderFailure extends Error {
  /** The mark, shared by all copies of the contract. */
  readonly [FAILURE_BRAND] = true;
  /** Shown to the client; decides about retries and, with `phase`, about circuit breakers. */
  readonly failure: FailureCode;
  /** The status that the provider had sent before the failure; `null` if it had sent none. */
  readonly status: number | null;
  /** The progress of the call when it failed. */
  readonly phase: FailurePhase;
  /** The details for operators. */
  readonly detail: string;

  /** @param options `cause` for the log, `status`, `phase` and `detail`. */
  constructor(failure: FailureCode, message: string, options: FailureOptions = {}) {
    super(message, options);
    this.name = 'ProviderFailure';
    this.failure = failure;
    this.status = options.status ?? null;
    this.phase = options.phase ?? 'responding';
    this.detail = options.detail ?? message;
  }
}

/** Checks the mark, not the class: a plugin may have its own copy of the contract. */
export function isProviderFailure(error: unknown): error is ProviderFailure {
  return typeof error === 'object' && error !== null && FAILURE_BRAND in error;
}
