import { isUtf8 } from 'node:buffer';
import type { FailureCode, ProviderFailure } from '../../contract/index.js';
import type { Descriptor } from '../../descriptor/descriptor.js';
import { type ErrorDetail, HostError } from '../../errors.js';
import { describeFailure } from '../../lib/failure-detail.js';
import { parseJson } from '../../lib/json-bytes.js';
import { type CheckedOutcome, isPassedOn, type ProviderStatus } from '../../provider/outcome.js';
import { RejectedCall } from '../../provider/rejected-call.js';
import { ClientClosed } from '../request.js';
import { SchemaMismatch } from './enforce-schemas.js';
import { isJsonResponse } from './provider-response.js';

const DETAIL_MEMBERS = ['detail', 'message', 'error', 'title'] as const;
const MAX_DETAIL_CHARACTERS = 1000;
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are the subject
const CONTROL_CHARACTERS = /[\u0000-\u001f\u007f-\u009f]+/g;
// RFC 9110 10.2.3: seconds, or an IMF-fixdate.
const RETRY_AFTER =
  /^(?:\d{1,10}|(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d{2} (?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) \d{4} \d{2}:\d{2}:\d{2} GMT)$/;

/** The provider's own error message, without control characters and shortened; `null` if it has none. */
function readProviderDetail({ headers, pieces }: CheckedOutcome): string | null {
  if (!isJsonResponse(headers)) return null;
  const body = Buffer.concat(pieces);
  if (!isUtf8(body)) return null;
  const problem = parseJson(body);
  if (typeof problem !== 'object' || problem === null) return null;
  for (const member of DETAIL_MEMBERS) {
    const detail = Object.hasOwn(problem, member) ? Reflect.get(problem, member) : undefined;
    if (typeof detail !== 'string') continue;
    const clean = detail.replace(CONTROL_CHARACTERS, ' ').trim();
    if (clean !== '') return truncate(clean);
  }
  return null;
}

/** `null` if it is absent or malformed. */
function readRetryAfter({ headers }: CheckedOutcome): string | null {
  const value = headers['retry-after'];
  return value !== undefined && RETRY_AFTER.test(value) ? value : null;
}

/** Counts code points, so that no surrogate pair is split. */
function truncate(text: string): string {
  if (text.length <= MAX_DETAIL_CHARACTERS) return text;
  return Array.from(text).slice(0, MAX_DETAIL_CHARACTERS).join('');
}

/** `status`: the provider responded with a status that cannot be forwarded. */
type ReportedFailure = Exclude<FailureCode, 'cancelled'> | 'status';

/** A 502, or a status that is passed through, with the failure that it reports. */
export class ProviderError extends HostError {
  readonly failure: ReportedFailure;
  /** What went wrong, for operators; never sent to the client. */
  readonly failureDetail: string;

  constructor(
    { failure, detail }: { readonly failure: ReportedFailure; readonly detail: string },
    ...args: ConstructorParameters<typeof HostError>
  ) {
    super(...args);
    this.failure = failure;
    this.failureDetail = detail;
  }
}

const DETAILS: Readonly<Record<ReportedFailure, string>> = {
  unavailable: 'the provider of the module cannot be reached',
  timeout: 'the provider of the module did not respond in time',
  overloaded: 'the module accepts no more calls at the moment',
  refused: 'the transport to the provider of the module denied the call',
  protocol: 'the response of the provider of the module cannot be forwarded',
  status: 'the provider of the module responded with an error status',
};

const NEXT_ACTIONS: Readonly<Record<ReportedFailure, readonly string[]>> = {
  unavailable: ['try again later'],
  timeout: ['try again later'],
  overloaded: ['try again later'],
  refused: ['ask the operators of the host'],
  protocol: ['ask the owners of the module'],
  status: ['ask the owners of the module'],
};

/** The error for a call without a response: a 502, or ClientClosed. */
export function createFailureError(
  error: ProviderFailure,
  call: readonly ErrorDetail[],
): HostError | ClientClosed {
  const { failure, status } = error;
  if (failure === 'cancelled') return new ClientClosed();
  const errors = addEvidence(call, failure, status);
  const isRejected = error instanceof RejectedCall;
  if (isRejected) errors.push(error.evidence);
  if (error instanceof SchemaMismatch) errors.push(...error.details);
  const reason = { failure, detail: describeFailure(error) };
  return new ProviderError(reason, 'external_dependency_failure', DETAILS[failure], {
    errors,
    nextActions: NEXT_ACTIONS[failure],
    cause: error,
    ...(isRejected && { headers: { 'retry-after': String(error.retryAfterSeconds) } }),
  });
}

/** The error for a status other than 2xx: a 502, or with `passthrough` the provider's own. */
export function createStatusError(
  response: ProviderStatus,
  descriptor: Descriptor,
  call: readonly ErrorDetail[],
): HostError {
  const { outcome } = response;
  const errors = addEvidence(call, 'status', outcome.status);
  const reason = { failure: 'status', detail: `status ${outcome.status}` } as const;
  if (!isPassedOn(response, descriptor)) {
    return new ProviderError(reason, 'external_dependency_failure', DETAILS.status, {
      errors,
      nextActions: NEXT_ACTIONS.status,
    });
  }
  const retryAfter = readRetryAfter(outcome);
  const detail = readProviderDetail(outcome) ?? `the provider responded with ${outcome.status}`;
  return new ProviderError(reason, 'provider_error', detail, {
    status: outcome.status,
    errors,
    ...(retryAfter !== null && { headers: { 'retry-after': retryAfter } }),
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
