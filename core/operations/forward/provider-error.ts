import type { FailureCode, ProviderFailure } from '../../contract/index.js';
import { describeOwner, type Owner } from '../../descriptor/sections/owner.js';
import { type ErrorDetail, HostError } from '../../errors.js';
import { describeFailure } from '../../lib/failure-detail.js';
import { formatHttpDate, parseHttpDate } from '../../lib/http-date.js';
import { TOO_DEEP } from '../../lib/json/json-check.js';
import type { Mask } from '../../lib/secrets/mask-secrets.js';
import type { LiveModule, LiveRoute } from '../../modules/live-module.js';
import {
  createMask,
  listInvalidParts,
  maskFailure,
  readRetryAfterMs,
} from '../../provider/mask-failure.js';
import {
  type CheckedOutcome,
  isPassthroughError,
  type ProviderStatus,
} from '../../provider/outcome.js';
import { RejectedCall, toRetryAfterSeconds } from '../../provider/rejected-call.js';
import { ClientClosed } from '../request.js';
import { SchemaMismatch } from './enforce-schemas.js';
import { assertSendable } from './exposed-headers.js';
import { readProviderError } from './read-provider-error.js';
import { describeRoute, type RouteCall } from './route-call.js';

const SECONDS = /^\d{1,10}$/;

/** The statuses of a provider that accepts calls again later. */
const TEMPORARY: ReadonlySet<number> = new Set([429, 503]);

/**
 * Seconds, or a date in the form that is sent today (RFC 9110, 10.2.3); `null` if it is absent or
 * malformed.
 */
function readRetryAfter({ headers }: CheckedOutcome): string | null {
  const value = headers['retry-after'] ?? '';
  if (SECONDS.test(value)) return value;
  const date = parseHttpDate(value);
  return date === null ? null : formatHttpDate(date);
}

type ReportedFailure = Exclude<FailureCode, 'cancelled'>;

/** A 502, or a forwarded status, with the reported failure. */
export class ProviderError extends HostError {
  readonly failure: ReportedFailure;
  /** The reason for operators; never sent to the client. */
  readonly failureDetail: string;
  /** The next actions with the owner of the module, whom only authenticated callers learn. */
  readonly ownerActions: readonly string[];

  constructor(
    { failure, detail, owner }: Reason,
    ...args: ConstructorParameters<typeof HostError>
  ) {
    super(...args);
    this.failure = failure;
    this.failureDetail = detail;
    const contact = describeOwner(owner);
    this.ownerActions =
      contact === null
        ? this.nextActions
        : [
            ...this.nextActions.filter((action) => action !== ASK_OWNERS),
            `ask the owner of the module: ${contact}`,
          ];
  }
}

interface Reason {
  readonly failure: ReportedFailure;
  readonly detail: string;
  /** The owner that callers may ask; `undefined` for none. */
  readonly owner: Owner | undefined;
}

const DETAILS: Readonly<Record<ReportedFailure, string>> = {
  unavailable: 'the provider of the module cannot be reached',
  timeout: 'the provider of the module did not respond in time',
  overloaded: 'the module accepts no more calls at the moment',
  refused: 'the transport to the provider of the module denied the call',
  protocol: 'the response of the provider of the module cannot be forwarded',
  status: 'the provider of the module responded with an error status',
};

const ASK_OWNERS = 'ask the owners of the module';
const AFTER_TIME = 'try again after the time in retry-after';
const ASK_FOR_LESS = 'ask for less, such as a shorter page';

const NEXT_ACTIONS: Readonly<Record<ReportedFailure, readonly string[]>> = {
  unavailable: ['try again later'],
  timeout: ['try again later'],
  overloaded: ['try again later'],
  refused: ['ask the operators of the host'],
  protocol: [ASK_OWNERS],
  status: [ASK_OWNERS],
};

/** Creates the error for a caller without credentials for the provider, which is not temporary. */
function createCredentialsError(
  error: ProviderFailure,
  call: readonly ErrorDetail[],
  owner: Owner | undefined,
): ProviderError {
  return new ProviderError(
    { failure: 'refused', detail: describeFailure(error), owner },
    'forbidden',
    'the module exchanges the token of its caller, and there is none for this caller',
    {
      errors: [...call, { field: 'token', reason: 'cannot be exchanged' }],
      nextActions: ['call with a bearer token of the issuer whose tokens the module exchanges'],
      reason: 'exchange',
      cause: error,
    },
  );
}

/** Creates the error for a provider that is starting, which ends soon. */
function createStartingError(
  error: ProviderFailure,
  retryAfterMs: number,
  errors: readonly ErrorDetail[],
  owner: Owner | undefined,
): ProviderError {
  return new ProviderError(
    { failure: 'unavailable', detail: describeFailure(error), owner },
    'unavailable',
    'the provider of the module is starting',
    {
      errors,
      nextActions: [AFTER_TIME],
      headers: { 'retry-after': String(toRetryAfterSeconds(retryAfterMs)) },
      cause: error,
    },
  );
}

/**
 * Creates the error for a call without a response: a 502, or ClientClosed; a 400 for a request that
 * the adapter cannot send, a 403 without credentials for the caller, a 503 while the provider starts.
 * @param carried the content of the route; `null` for JSON only
 */
export function createFailureError(
  error: ProviderFailure,
  call: readonly ErrorDetail[],
  owner?: Owner,
  carried: RouteContent | null = null,
): HostError | ClientClosed {
  const { failure, status } = error;
  if (failure === 'cancelled') return new ClientClosed();
  if (failure === 'refused' && error.phase === 'preparing') {
    const invalid = listInvalidParts(error);
    if (invalid.length === 0) return createCredentialsError(error, call, owner);
    const detail = 'the request does not fit what the provider of the module accepts';
    const nextActions = ['correct what errors names'];
    return new HostError('validation_failed', detail, {
      errors: invalid,
      nextActions,
      cause: error,
    });
  }
  const errors = addEvidence(call, failure, status);
  const retryAfterMs = readRetryAfterMs(error);
  if (retryAfterMs !== null && error.phase === 'preparing') {
    return createStartingError(error, retryAfterMs, errors, owner);
  }
  const isRejected = error instanceof RejectedCall;
  const retrySeconds = isRejected
    ? error.retryAfterSeconds
    : retryAfterMs && toRetryAfterSeconds(retryAfterMs);
  if (isRejected) errors.push(error.evidence);
  if (error instanceof SchemaMismatch) errors.push(...error.details);
  const reason = { failure, detail: describeFailure(error), owner };
  const [, maxBytes] = TOO_LONG.exec(reason.detail) ?? [];
  const { responseBytes: bytes = null } = carried ?? {};
  const isOfBytes = bytes !== null && (!bytes.besideJson || bytes.maxBytes === Number(maxBytes));
  const limit = isOfBytes ? 'limits.bytes.response' : 'limits.response_bytes';
  if (maxBytes !== undefined) errors.push({ field: 'limit', reason: limit });
  const explained =
    maxBytes === undefined
      ? describeBody(reason.detail, carried)
      : [`its body is longer than ${maxBytes} bytes, ${limit} of the descriptor`];
  const detail = [DETAILS[failure], ...explained].join(': ');
  const actions = retryAfterMs === null ? NEXT_ACTIONS[failure] : [AFTER_TIME];
  return new ProviderError(reason, 'external_dependency_failure', detail, {
    errors,
    nextActions: maxBytes === undefined ? actions : [ASK_FOR_LESS, ASK_OWNERS],
    cause: error,
    ...(isRejected && error.evidence.field === 'breaker' && { step: 'breaker' }),
    ...(retrySeconds !== null && { headers: { 'retry-after': String(retrySeconds) } }),
  });
}

/** Creates the error of a call that failed after its provider had answered. */
export function createCallFailure(
  { matched, request }: RouteCall,
  failure: ProviderFailure,
): HostError | ClientClosed {
  const { descriptor, secrets } = matched.module;
  const masked = maskFailure(failure, createMask(secrets, request));
  return createFailureError(masked, describeRoute(matched), descriptor.owner);
}

/** The words of the host and of the shipped adapters. */
const TOO_LONG = /^(?:.*\bbody .*)?\bover (\d+) bytes$/;
const FOREIGN_TYPE = /^content-type [\w.+-]{1,64}\/[\w.+-]{1,64}/;
const CARRIES_JSON = 'this route carries JSON; see operation.response and operation.stream';
const CARRIES_BYTES = 'this route carries the media types of operation.response_types';
const CARRIES_EITHER = 'this route carries JSON and the media types of operation.response_types';
const CARRIES_EVENTS = 'this route carries the media types of operation.stream_types';

export type RouteContent = Pick<LiveRoute, 'responseBytes' | 'stream'>;

/** Includes what callers may know of a body that the host cannot forward: its type or its depth. */
function describeBody(detail: string, carried: RouteContent | null): string[] {
  if (detail === TOO_DEEP) return [detail];
  const [type] = FOREIGN_TYPE.exec(detail) ?? [];
  return type === undefined ? [] : [type, describeCarried(carried)];
}

function describeCarried(carried: RouteContent | null): string {
  const { responseBytes = null } = carried ?? {};
  if (responseBytes !== null) return responseBytes.besideJson ? CARRIES_EITHER : CARRIES_BYTES;
  return (carried?.stream ?? null) === null ? CARRIES_JSON : CARRIES_EVENTS;
}

/**
 * Creates the error for a status other than 2xx: a 502, or with `passthrough` the provider's own.
 */
export function createStatusError(
  response: ProviderStatus,
  { descriptor, secrets }: LiveModule,
  call: readonly ErrorDetail[],
  request: { readonly mask: Mask },
): HostError {
  const { outcome } = response;
  const errors = addEvidence(call, 'status', outcome.status);
  const { owner } = descriptor;
  const reason = { failure: 'status', detail: `status ${outcome.status}` } as const;
  const retryAfter = readRetryAfter(outcome);
  if (!isPassthroughError(response, descriptor)) {
    const isTemporary = TEMPORARY.has(outcome.status);
    const hasTime = isTemporary && retryAfter !== null;
    const wait = hasTime ? AFTER_TIME : 'try again later';
    return new ProviderError({ ...reason, owner }, 'external_dependency_failure', DETAILS.status, {
      errors,
      nextActions: isTemporary ? [wait, ASK_OWNERS] : NEXT_ACTIONS.status,
      ...(hasTime && { headers: { 'retry-after': retryAfter } }),
    });
  }
  const { 'content-range': range } = outcome.headers;
  const mask = createMask([...secrets, ...outcome.secrets], request);
  const providerError = readProviderError(outcome, mask);
  const detail = providerError.detail ?? `the provider responded with ${outcome.status}`;
  return new ProviderError({ ...reason, owner: undefined }, 'provider_error', detail, {
    status: outcome.status,
    errors: [...errors, ...providerError.errors],
    headers: {
      ...(retryAfter !== null && { 'retry-after': retryAfter }),
      ...(response.isPassedOn &&
        range !== undefined && { 'content-range': assertSendable(outcome, range) }),
    },
  });
}

function addEvidence(
  call: readonly ErrorDetail[],
  failure: ReportedFailure,
  status: number | null,
): ErrorDetail[] {
  const evidence = [...call, { field: 'failure', reason: failure }];
  if (status !== null) evidence.push({ field: 'provider_status', reason: String(status) });
  return evidence;
}
