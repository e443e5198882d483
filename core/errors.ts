import type { StepName } from './steps.js';

/**
 * An error in the usage, a setting or a file that prevents the start. The message is one line, lower case, and
 * names the source; `modgate` prints it on stderr and exits with 2.
 */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}

interface ProblemKind {
  readonly status: number;
  readonly title: string;
  /** The text of its page, to which its `type` refers; constant text only. */
  readonly meaning: string;
  readonly whatToDo: string;
  /**
   * When a route of a module may return it; `passthrough`: with `provider_errors: passthrough`;
   * `streamed`: if its response is bytes or a stream of events; `events`: if it is a stream of
   * events.
   */
  readonly onRoutes: 'always' | 'passthrough' | 'streamed' | 'events' | 'never';
}

/** The one declaration of Problems, by code. The two lists below are their only other statuses. */
export const PROBLEMS = {
  validation_failed: {
    status: 400,
    title: 'Validation failed',
    meaning: 'The request is not valid; errors names each invalid part.',
    whatToDo: 'Correct what errors names and send the request again.',
    onRoutes: 'always',
  },
  unauthorized: {
    status: 401,
    title: 'Unauthorized',
    meaning: 'The request has no credentials, or they are not valid.',
    whatToDo:
      'Send credentials that the host accepts; www-authenticate and next_actions name them.',
    onRoutes: 'always',
  },
  forbidden: {
    status: 403,
    title: 'Forbidden',
    meaning: 'The caller is authenticated, but lacks the right to do this.',
    whatToDo: 'Ask for the scope that errors or next_actions names.',
    onRoutes: 'always',
  },
  not_found: {
    status: 404,
    title: 'Not found',
    meaning: 'No live module has a route for this method and path, or the host has no such page.',
    whatToDo: 'Check the method and the exact path; paths are matched byte for byte.',
    onRoutes: 'always',
  },
  method_not_allowed: {
    status: 405,
    title: 'Method not allowed',
    meaning: 'The path belongs to the host and does not support this method.',
    whatToDo: 'Use a method that the allow header lists.',
    onRoutes: 'never',
  },
  not_acceptable: {
    status: 406,
    title: 'Not acceptable',
    meaning:
      'The route answers with a stream of events, and the accept header does not name its type.',
    whatToDo: 'Name the media type that errors lists in accept; a wildcard does not count.',
    onRoutes: 'events',
  },
  conflict: {
    status: 409,
    title: 'Conflict',
    meaning: 'The request conflicts with the current state of the host.',
    whatToDo: 'Read the current state and try again.',
    onRoutes: 'never',
  },
  upgrade_required: {
    status: 426,
    title: 'Upgrade required',
    meaning: 'The route streams its response, which a client of HTTP/1.0 could take for whole.',
    whatToDo: 'Use the protocol that the upgrade header names.',
    onRoutes: 'streamed',
  },
  rate_limited: {
    status: 429,
    title: 'Rate limited',
    meaning: 'The caller has exceeded a rate limit that the operators configured.',
    whatToDo: 'Wait for the time in retry-after.',
    onRoutes: 'always',
  },
  internal_error: {
    status: 500,
    title: 'Internal error',
    meaning: 'The host failed; the request may or may not have reached the provider.',
    whatToDo: 'Report the request_id to the operators of the host.',
    onRoutes: 'always',
  },
  external_dependency_failure: {
    status: 502,
    title: 'External dependency failure',
    meaning: 'The provider of the module did not respond, or its response cannot be forwarded.',
    whatToDo:
      'See failure and provider_status in errors; try again later where next_actions says so.',
    onRoutes: 'always',
  },
  provider_error: {
    status: 502,
    title: 'Provider error',
    meaning: 'The provider rejected the request; status and detail come from the provider.',
    whatToDo: 'Read detail and correct the request.',
    onRoutes: 'passthrough',
  },
  unavailable: {
    status: 503,
    title: 'Unavailable',
    meaning:
      'The host cannot handle the request now: it starts, drains or is overloaded, or a part that it needs does not respond.',
    whatToDo: 'Read detail, and try again after the time in retry-after or with a growing delay.',
    onRoutes: 'always',
  },
} as const satisfies Readonly<Record<string, ProblemKind>>;

export type ProblemCode = keyof typeof PROBLEMS;

export const PROBLEM_CODES = Object.keys(PROBLEMS) as readonly ProblemCode[];

/**
 * The statuses of `validation_failed` for rejections by the parser and the protocol; for surfaces
 * also 413.
 */
export const PROTOCOL_STATUSES = [408, 417, 431, 501] as const;

export interface ErrorDetail {
  readonly field: string | null;
  readonly reason: string;
}

interface HostErrorOptions {
  readonly errors?: readonly ErrorDetail[];
  /** The next actions of the client, one short sentence each. */
  readonly nextActions?: readonly string[];
  /**
   * The status, only for codes with several: `provider_error`, and errors of the parser and the
   * protocol.
   */
  readonly status?: number;
  /** Response headers that belong to the error: `retry-after`, `allow`. Lower-case names. */
  readonly headers?: Readonly<Record<string, string>>;
  /** The reason of a rejection, as a word for the log; never sent. */
  readonly reason?: string | null;
  /** Details of the reason for the log, such as the name of a claim; never sent. */
  readonly reasonDetail?: string | null;
  /** The scope that the caller lacks: operators see the roles that have it. */
  readonly missingScope?: string;
  /** The step that failed, if it is not the current one. */
  readonly step?: StepName | null;
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
  readonly reasonDetail: string | null;
  readonly missingScope: string | null;
  readonly step: StepName | null;

  constructor(code: ProblemCode, detail: string, options: HostErrorOptions = {}) {
    super(detail, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.status = options.status ?? PROBLEMS[code].status;
    this.errors = options.errors ?? [];
    this.nextActions = options.nextActions ?? [];
    this.headers = options.headers ?? {};
    this.reason = options.reason ?? null;
    this.reasonDetail = options.reasonDetail ?? null;
    this.missingScope = options.missingScope ?? null;
    this.step = options.step ?? null;
  }

  get detail(): string {
    return this.message;
  }
}

/** Creates a 503 for a condition that is likely to end within a second. */
export function createUnavailable(detail: string, options: HostErrorOptions = {}): HostError {
  return new HostError('unavailable', detail, {
    nextActions: ['try again later'],
    headers: { 'retry-after': '1' },
    ...options,
  });
}
