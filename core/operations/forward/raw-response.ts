import { isJsonMediaType } from '../../lib/media-type.js';
import { type CheckedOutcome, ProviderStatus, readLength } from '../../provider/outcome.js';
import { BODILESS } from '../reply.js';
import {
  createProtocolFailure,
  createRedirectFailure,
  findBodyProblem,
  isJsonResponse,
  UNKNOWN_LENGTH,
} from './provider-response.js';

const NOT_MODIFIED = 304;
/** Statuses of a part of a body, and of responses to a proxy. */
const NOT_PASSED: ReadonlySet<number> = new Set([206, 407, 421]);

const MIN_ERROR_STATUS = 400;
const NONE: readonly Uint8Array[] = [];

/** A response that is forwarded with its own status. */
export interface RawResponse {
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

/**
 * Accepts any final status except those about the connection to the provider, with JSON or no body.
 * An error whose body is not JSON is forwarded without it.
 * @param isHead whether the provider received HEAD
 * @throws ProviderFailure `protocol` for a redirect, and for a body that cannot be forwarded.
 * @throws ProviderStatus for a status that cannot be forwarded.
 */
export function readRawResponse(outcome: CheckedOutcome, isHead: boolean): RawResponse {
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
    return isHead ? { ...empty, contentLength: readLength(headers) } : empty;
  }
  const problem = findBodyProblem(outcome);
  if (problem === null) return { status, pieces, contentType: contentType ?? null };
  if (status < MIN_ERROR_STATUS || problem === UNKNOWN_LENGTH) {
    throw createProtocolFailure(outcome, problem.state, problem.detail);
  }
  return { status, pieces: NONE, contentType: null, omitted: problem.detail };
}

/** Whether the body of a response is forwarded regardless of its content, if it is JSON. */
export function isForwardedJson({ status, headers }: CheckedOutcome): boolean {
  if (status < 200 || NOT_PASSED.has(status)) return false;
  if (status >= 300 && status < MIN_ERROR_STATUS) return false;
  return isJsonResponse(headers);
}
