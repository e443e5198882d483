const FAILURE_BRAND = Symbol.for('modgate.provider-failure');

/**
 * Why a provider call failed.
 * - `unavailable`: no connection, TLS refused, closed or reset before the status line
 * - `timeout`: the deadline passed
 * - `cancelled`: the client closed the connection
 * - `overloaded`: a limit of the host
 * - `refused`: the transport denied the call
 * - `protocol`: cut short, too large, malformed
 * - `status`: the provider ended the call with an error that is not forwarded, such as behind the first
 * event of a stream; an error that the host may forward is a response
 */
export const FAILURE_CODES = [
  'unavailable',
  'timeout',
  'cancelled',
  'overloaded',
  'refused',
  'protocol',
  'status',
] as const;

/** One of {@link FAILURE_CODES}. */
export type FailureCode = (typeof FAILURE_CODES)[number];

/**
 * The progress of the call when it failed. It decides which circuit breaker counts the failure.
 * - `preparing`: the adapter could not create the request or get its credentials, and nothing was sent;
 * counts for no breaker and is not retried. With the code `refused` the caller gets a 400 if the failure
 * has {@link FailureOptions.invalid}, and otherwise a 403: there are no credentials for this caller
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

/** A part of the caller's request that does not fit what the provider accepts. */
export interface InvalidPart {
  /**
   * A JSON Pointer into the body, of which an empty one is the whole body; or `query.<name>`, `path.<name>` or
   * `header.<name>`. At most 200 characters.
   */
  readonly field: string;
  /** What is expected, without the value: `must be a string`. At most 200 characters. */
  readonly reason: string;
}

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
  /**
   * Why the adapter cannot create the request: the caller gets a 400 with the first 20 parts, in every mode, and the
   * module has not failed. Only with the code `refused` in phase `preparing`. Default: none.
   */
  readonly invalid?: readonly InvalidPart[];
  /**
   * When to try again, which the caller gets as `retry-after`. Only with the code `unavailable`: in phase `preparing`
   * with a 503, because the provider is starting; in other phases with the 502, because the provider said so.
   * Milliseconds, at least 1; default: none, and the caller gets a 502.
   */
  readonly retryAfterMs?: number;
}

/**
 * The error that an adapter throws from `invoke`, `manifest` and `check`. Any other error, and a code that is not in
 * {@link FAILURE_CODES}, counts as `protocol`; an error of another class is logged as one of the adapter. The message
 * is logged and never sent to a client. Message, `detail` and `cause` must not contain a secret.
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
  /** The parts of the caller's request that do not fit; empty for any other failure. */
  readonly invalid: readonly InvalidPart[];
  /** When to try again. Milliseconds; `null` if it is not known. */
  readonly retryAfterMs: number | null;

  /** @param options `cause` for the log, and the members that differ from their defaults. */
  constructor(failure: FailureCode, message: string, options: FailureOptions = {}) {
    super(message, options);
    this.name = 'ProviderFailure';
    this.failure = failure;
    this.status = options.status ?? null;
    this.phase = options.phase ?? 'responding';
    this.detail = options.detail ?? message;
    this.invalid = options.invalid ?? [];
    this.retryAfterMs = options.retryAfterMs ?? null;
  }
}

/** Checks the mark, not the class: a plugin may have its own copy of the contract. */
export function isProviderFailure(error: unknown): error is ProviderFailure {
  return typeof error === 'object' && error !== null && FAILURE_BRAND in error;
}
