/**
 * An error in the usage, a setting or a file that prevents the start. The message is one line, lower case, and
 * names the source; `modgate` prints it on stderr and exits with 2.
 */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}

/** The codes of problems, with their status and title. The two lists below are their only other statuses. */
export const PROBLEMS = {
  validation_failed: { status: 400, title: 'Validation failed' },
  unauthorized: { status: 401, title: 'Unauthorized' },
  forbidden: { status: 403, title: 'Forbidden' },
  not_found: { status: 404, title: 'Not found' },
  method_not_allowed: { status: 405, title: 'Method not allowed' },
  conflict: { status: 409, title: 'Conflict' },
  rate_limited: { status: 429, title: 'Rate limited' },
  internal_error: { status: 500, title: 'Internal error' },
  external_dependency_failure: { status: 502, title: 'External dependency failure' },
  provider_error: { status: 502, title: 'Provider error' },
  unavailable: { status: 503, title: 'Unavailable' },
} as const;

export type ProblemCode = keyof typeof PROBLEMS;

/** The statuses of `validation_failed` for what the parser and the protocol reject; for surfaces also 413. */
export const PROTOCOL_STATUSES = [408, 417, 431, 501] as const;
/** The statuses of `provider_error`: those that `provider_errors: passthrough` forwards. */
export const PASSTHROUGH_STATUSES = [400, 404, 409, 410, 412, 422, 429] as const;

export interface ErrorDetail {
  readonly field: string | null;
  readonly reason: string;
}

interface HostErrorOptions {
  readonly errors?: readonly ErrorDetail[];
  /** What the client can do, one short sentence each. */
  readonly nextActions?: readonly string[];
  /** Only for codes with several statuses: `provider_error`, and errors of the parser and the protocol. */
  readonly status?: number;
  /** Response headers that belong to the error: `retry-after`, `allow`. Lower-case names. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Why a request is rejected, as a word for the log; never sent. */
  readonly reason?: string;
  readonly cause?: unknown;
}

/** An error that the client sees. `detail` and `errors` must contain no secret, no address and no stack. */
export class HostError extends Error {
  override readonly name = 'HostError';
  readonly code: ProblemCode;
  readonly status: number;
  readonly errors: readonly ErrorDetail[];
  readonly nextActions: readonly string[];
  readonly headers: Readonly<Record<string, string>>;
  readonly reason: string | null;

  constructor(code: ProblemCode, detail: string, options: HostErrorOptions = {}) {
    super(detail, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.status = options.status ?? PROBLEMS[code].status;
    this.errors = options.errors ?? [];
    this.nextActions = options.nextActions ?? [];
    this.headers = options.headers ?? {};
    this.reason = options.reason ?? null;
  }

  get detail(): string {
    return this.message;
  }
}

/** A 503 for what is likely to work a second later. */
export function createUnavailable(detail: string, options: HostErrorOptions = {}): HostError {
  return new HostError('unavailable', detail, {
    nextActions: ['try again later'],
    headers: { 'retry-after': '1' },
    ...options,
  });
}
