import { isJsonMediaType } from '../../lib/json-bytes.js';
import { type CheckedOutcome, ProviderStatus } from '../../provider/outcome.js';
import { BODILESS } from '../reply.js';
import {
  assertJsonBody,
  createProtocolFailure,
  createRedirectFailure,
} from './provider-response.js';

/** 304 and unassigned statuses are no redirects. */
const REDIRECTS: ReadonlySet<number> = new Set([300, 301, 302, 303, 305, 306, 307, 308]);
/** Part of a body, and answers to a proxy. */
const NOT_PASSED: ReadonlySet<number> = new Set([206, 407, 421]);

const NONE: readonly Uint8Array[] = [];

/** A response that is passed on with its own status. */
export interface RawResponse {
  readonly status: number;
  /** The provider's bytes; empty without a body. */
  readonly pieces: readonly Uint8Array[];
  /** `null` without one. */
  readonly contentType: string | null;
}

/**
 * Any final status but those that say something about the connection to the provider, with JSON or no body.
 * @throws ProviderFailure `protocol` for a redirect, and for a body that cannot be passed on.
 * @throws ProviderStatus for a status that cannot.
 */
export function readRawResponse(outcome: CheckedOutcome): RawResponse {
  const { status, headers, pieces, length } = outcome;
  if (REDIRECTS.has(status)) throw createRedirectFailure(outcome);
  if (status < 200 || NOT_PASSED.has(status)) throw new ProviderStatus(outcome);
  const contentType = headers['content-type'];
  const isEmpty = length === 0 && outcome.isDelimited;
  if (isEmpty || BODILESS.has(status)) {
    const isJson = contentType !== undefined && isSingleJsonType(contentType);
    return { status, pieces: NONE, contentType: isJson ? contentType : null };
  }
  if (!outcome.isDelimited) {
    throw createProtocolFailure(outcome, 'of unknown length', 'body without a length');
  }
  assertJsonBody(outcome);
  if (contentType === undefined || !isSingleJsonType(contentType)) {
    throw createProtocolFailure(outcome, 'not of one content type', `content-type ${contentType}`);
  }
  return { status, pieces, contentType };
}

/** After a comma, browsers read a second type, which may be HTML. */
function isSingleJsonType(contentType: string): boolean {
  if (contentType === 'application/json') return true;
  return isJsonMediaType(contentType) && /^[\t\x20-\x2b\x2d-\x7e]*$/.test(contentType);
}
