import { isUtf8 } from 'node:buffer';
import type { FailureCode, ProviderFailure } from '../../contract/index.js';
import type { Descriptor } from '../../descriptor/descriptor.js';
import { type ErrorDetail, HostError } from '../../errors.js';
import { parseJson } from '../../lib/json-bytes.js';
import { type CheckedOutcome, isPassedOn, type ProviderStatus } from '../../provider/outcome.js';
import { RejectedCall } from '../../provider/rejected-call.js';
import { ClientClosed } from '../request.js';
import { isJsonAnswer } from './provider-response.js';

const DETAIL_MEMBERS = ['detail', 'message', 'error', 'title'] as const;
const MAX_DETAIL_CHARACTERS = 1000;
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are the subject
const CONTROL_CHARACTERS = /[\u0000-\u001f\u007f-\u009f]+/g;
// RFC 9110 10.2.3: seconds, or an IMF-fixdate.
const RETRY_AFTER =
  /^(?:\d{1,10}|(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d{2} (?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) \d{4} \d{2}:\d{2}:\d{2} GMT)$/;

/** The provider's own words about its refusal, made harmless; `null` when it has none. */
export function readProviderDetail({ headers, pieces }: CheckedOutcome): string | null {
  if (!isJsonAnswer(headers)) return null;
  const body = Buffer.concat(pieces);
  if (!isUtf8(body)) return null;
  const answer = parseJson(body);
  if (typeof answer !== 'object' || answer === null) return null;
  for (const member of DETAIL_MEMBERS) {
    const detail = Object.hasOwn(answer, member) ? Reflect.get(answer, member) : undefined;
    if (typeof detail !== 'string') continue;
    const clean = detail.replace(CONTROL_CHARACTERS, ' ').trim();
    if (clean !== '') return truncate(clean);
  }
  return null;
}

/** A well-formed `retry-after`, or nothing. */
export function readRetryAfter({ headers }: CheckedOutcome): string | null {
  const value = headers['retry-after'];
  return value !== undefined && RETRY_AFTER.test(value) ? value : null;
}

/** Counts code points, so that no surrogate pair is cut in two. */
function truncate(text: string): string {
  if (text.length <= MAX_DETAIL_CHARACTERS) return text;
  return Array.from(text).slice(0, MAX_DETAIL_CHARACTERS).join('');
}

/** `status` is an answer with a status that cannot be forwarded (contract 1.7). */
export type ReportedFailure = Exclude<FailureCode, 'cancelled'> | 'status';

/** A 502 (or a passed-on status) that carries which failure it reports. */
export class ProviderError extends HostError {
  readonly failure: ReportedFailure;

  constructor(failure: ReportedFailure, ...args: ConstructorParameters<typeof HostError>) {
    super(...args);
    this.failure = failure;
  }
}

const DETAILS: Readonly<Record<ReportedFailure, string>> = {
  unavailable: 'the provider of the module cannot be reached',
  timeout: 'the provider of the module did not answer in time',
  overloaded: 'the module takes no more calls at the moment',
  refused: 'the transport to the provider of the module refused the call',
  protocol: 'the provider of the module answered something that cannot be forwarded',
  status: 'the provider of the module answered with an error status',
};

const NEXT_ACTIONS: Readonly<Record<ReportedFailure, readonly string[]>> = {
  unavailable: ['try again later'],
  timeout: ['try again later'],
  overloaded: ['try again later'],
  refused: ['ask the operators of the host'],
  protocol: ['ask the owners of the module'],
  status: ['ask the owners of the module'],
};

/** The 502 for a call that was not answered; a caller who has gone gets no answer at all. */
export function createFailureError(
  error: ProviderFailure,
  question: readonly ErrorDetail[],
): HostError | ClientClosed {
  const { failure, status } = error;
  if (failure === 'cancelled') return new ClientClosed();
  const errors = addEvidence(question, failure, status);
  const isHeldBack = error instanceof RejectedCall;
  if (isHeldBack) errors.push(error.evidence);
  return new ProviderError(failure, 'external_dependency_failure', DETAILS[failure], {
    errors,
    nextActions: NEXT_ACTIONS[failure],
    cause: error,
    ...(isHeldBack && { headers: { 'retry-after': String(error.retryAfterSeconds) } }),
  });
}

/** The 502 for an answer that is neither 2xx nor passed on; with `passthrough`, the provider's own refusal. */
export function createStatusError(
  answered: ProviderStatus,
  descriptor: Descriptor,
  question: readonly ErrorDetail[],
): HostError {
  const { outcome } = answered;
  const errors = addEvidence(question, 'status', outcome.status);
  if (!isPassedOn(answered, descriptor)) {
    return new ProviderError('status', 'external_dependency_failure', DETAILS.status, {
      errors,
      nextActions: NEXT_ACTIONS.status,
    });
  }
  const retryAfter = readRetryAfter(outcome);
  const detail = readProviderDetail(outcome) ?? `the provider answered ${outcome.status}`;
  return new ProviderError('status', 'provider_error', detail, {
    status: outcome.status,
    errors,
    ...(retryAfter !== null && { headers: { 'retry-after': retryAfter } }),
  });
}

function addEvidence(
  question: readonly ErrorDetail[],
  failure: ReportedFailure,
  status: number | null,
): ErrorDetail[] {
  const evidence = [...question, { field: 'failure', reason: failure }];
  if (status !== null) evidence.push({ field: 'provider_status', reason: String(status) });
  return evidence;
}
