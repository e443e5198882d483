import { cleanDetail } from '../../../lib/failure-detail.js';
import { isJsonMediaType, readMediaType } from '../../../lib/media-type.js';
import type { EndpointBase } from '../../../provider/endpoint-base.js';
import { createMask } from '../../../provider/mask-failure.js';
import { type CheckedOutcome, ProviderStatus, readLength } from '../../../provider/outcome.js';
import { BODILESS, Reply } from '../../reply.js';
import { checkOutput } from '../enforce-schemas.js';
import { type ExposedHeaders, exposeHeaders } from '../exposed-headers.js';
import {
  createProtocolFailure,
  createRedirectFailure,
  findBodyProblem,
  findHeaderProblem,
  isJsonResponse,
  UNKNOWN_LENGTH,
} from '../provider-response.js';
import { passRedirect } from '../rewrite-references.js';
import type { ForwardedResponse, ReadCall, ResponseForm } from './response-form.js';

const NOT_MODIFIED = 304;
/** Statuses of a part of a body, and of responses to a proxy. */
const NOT_PASSED: ReadonlySet<number> = new Set([206, 407, 421]);

const MIN_ERROR_STATUS = 400;
const NONE: readonly Uint8Array[] = [];

/** The parts of a response that is forwarded with its own status. */
interface RawParts {
  readonly status: number;
  /** The provider's bytes; empty without a body. */
  readonly pieces: readonly Uint8Array[];
  /** `null` without one. */
  readonly contentType: string | null;
  /** The length in the head of a response to HEAD. Default: the length of the pieces. */
  readonly contentLength?: number | null;
  /**
   * The reason why an error is forwarded without its body, for operators; absent if the body is
   * forwarded.
   */
  readonly omitted?: string;
}

interface RawResponse extends ForwardedResponse {
  readonly raw: RawParts;
  readonly exposed: ExposedHeaders;
}

/** The provider's own status and JSON. */
export const rawForm: ResponseForm<RawResponse> = {
  fits: (_route, { descriptor }) => descriptor.responses.mode === 'raw',
  stream: () => null,

  read(call, outcome, { base }, operation) {
    const redirect = passRedirect(outcome, call, base);
    const exposed = exposeHeaders(call, outcome, base);
    if (redirect !== null) {
      const raw = { status: outcome.status, pieces: NONE, contentType: null };
      return { form: rawForm, raw, exposed: withLocation(exposed, redirect.location) };
    }
    const isHead = operation.kind === 'http_route' && operation.method === 'HEAD';
    const raw = readParts(outcome, isHead);
    return checkOutput(call, outcome, { form: rawForm, raw, exposed });
  },

  reply({ authorization, matched, request, facts }, { raw, exposed }) {
    facts.failure_detail =
      raw.omitted === undefined
        ? null
        : cleanDetail(createMask(matched.module.secrets, request)(raw.omitted));
    return Reply.forwarded(authorization, { ...raw, ...exposed });
  },
};

/**
 * Accepts any final status except those about the connection to the provider, with JSON or no body.
 * An error whose body is not JSON is forwarded without it.
 * @param isHead whether the provider received HEAD
 * @throws ProviderFailure `protocol` for a redirect, and for a body that cannot be forwarded.
 * @throws ProviderStatus for a status that cannot be forwarded.
 */
function readParts(outcome: CheckedOutcome, isHead: boolean): RawParts {
  const { status, headers, pieces, length } = outcome;
  // Clients follow unassigned statuses of this class too.
  const isRedirect = status >= 300 && status < MIN_ERROR_STATUS && status !== NOT_MODIFIED;
  if (isRedirect) throw createRedirectFailure(outcome);
  if (status < 200 || NOT_PASSED.has(status)) throw new ProviderStatus(outcome);
  const contentType = headers['content-type'];
  const isEmpty = length === 0 && outcome.isDelimited;
  if (isEmpty || BODILESS.has(status)) {
    const isJson = contentType !== undefined && isJsonMediaType(contentType);
    const empty = { status, pieces: NONE, contentType: isJson ? contentType : null };
    return isHead ? readHead(outcome, empty) : empty;
  }
  const problem = findBodyProblem(outcome);
  if (problem === null) return { status, pieces, contentType: contentType ?? null };
  if (status < MIN_ERROR_STATUS || problem === UNKNOWN_LENGTH) {
    throw createProtocolFailure(outcome, problem.state, problem.detail);
  }
  return { status, pieces: NONE, contentType: null, omitted: problem.detail };
}

/**
 * The head of a response to HEAD, as the response to GET would have it.
 * @throws ProviderFailure `protocol` for the type of a body that cannot be forwarded.
 */
function readHead(outcome: CheckedOutcome, empty: RawParts): RawParts {
  const { status, headers } = outcome;
  const contentLength = readLength(headers);
  const isAnnounced = contentLength !== null && contentLength > 0 && !BODILESS.has(status);
  // Some providers leave the type out of a response to HEAD.
  const isTyped = headers['content-type'] !== undefined;
  const problem = isAnnounced && isTyped ? findHeaderProblem(outcome) : null;
  if (problem === null) return { ...empty, contentLength };
  if (status >= MIN_ERROR_STATUS) return { ...empty, omitted: problem.detail };
  throw createProtocolFailure(outcome, problem.state, problem.detail);
}

/** The response to HEAD of what GET streams: its length is not known. */
export function createHead(
  call: ReadCall,
  outcome: CheckedOutcome,
  base: EndpointBase | null,
  type: string | undefined,
): RawResponse {
  const contentType = readMediaType(type ?? '');
  const raw = { status: outcome.status, pieces: NONE, contentType, contentLength: null };
  return { form: rawForm, raw, exposed: exposeHeaders(call, outcome, base) };
}

/** Adds `location`, exposed or not, because a redirect is useless without it. */
function withLocation(exposed: ExposedHeaders, location: string | null): ExposedHeaders {
  if (location === null) return exposed;
  const headers: string[] = ['location', location];
  for (let index = 0; index < exposed.headers.length; index += 2) {
    const [name = '', value = ''] = exposed.headers.slice(index, index + 2);
    if (name !== 'location') headers.push(name, value);
  }
  return { ...exposed, headers };
}

/** Whether the body of a response is forwarded regardless of its content, if it is JSON. */
export function isForwardedJson({ status, headers }: CheckedOutcome): boolean {
  if (status < 200 || NOT_PASSED.has(status)) return false;
  if (status >= 300 && status < MIN_ERROR_STATUS) return false;
  return isJsonResponse(headers);
}
