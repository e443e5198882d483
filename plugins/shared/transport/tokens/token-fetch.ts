import type { CustomFetchOptions } from 'openid-client';
import {
  isProviderFailure,
  type ProviderFailure,
  type Secret,
} from '../../../../core/contract/index.js';
import { findCause } from '../../../../core/contract/outgoing-proxy.js';
import { createTransportFailure } from '../../failures.js';
import { createIssuerFetch, ResponseTooLong } from '../../issuer-fetch.js';
import { isProtected } from '../../loopback.js';
import { parseMembers, readTokenAnswer } from './token-answer.js';
import { createTokenFailure, TokenRejected } from './token-failure.js';

/** RFC 6749, section 5.2; shorter, because operators read it. */
const ERROR_WORD = /^[\w.:/-]{1,100}$/;

const BAD_REQUEST = 400;

interface FetchLimits {
  /** The time for each request. Seconds. */
  readonly timeoutSeconds: number;
  readonly maxResponseBytes: number;
}

export type TokenFetch = (url: string, options: CustomFetchOptions) => Promise<Response>;

/**
 * Creates a fetch that throws a ProviderFailure unless the response is a 2xx within the limits, and
 * for a POST unless it has a token.
 */
export function createTokenFetch(
  { maxResponseBytes, timeoutSeconds }: FetchLimits,
  secret: Secret | null,
): TokenFetch {
  const fetchBounded = createIssuerFetch(maxResponseBytes);
  return async (url, options) => {
    if (!isProtected(new URL(url))) {
      throw createTokenFailure('protocol', 'the URL from discovery is not https');
    }
    let response: Response;
    try {
      response = await fetchBounded(url, { ...options, redirect: 'manual' });
    } catch (error) {
      throw toNetworkFailure(error, maxResponseBytes, timeoutSeconds);
    }
    if (response.ok && options.method !== 'POST') return response;
    const members = parseMembers(await response.text());
    const error = members?.['error'];
    const word = typeof error === 'string' && ERROR_WORD.test(error) ? error : null;
    const isEcho = word !== null && listSent(options, secret).some((sent) => sent.includes(word));
    const shown = isEcho ? null : word;
    if (!response.ok) throw new TokenRejected(response.status, shown);
    if (typeof error === 'string' && error !== '') {
      // What RFC 6749 answers with 400.
      throw new TokenRejected(BAD_REQUEST, shown, shown ?? 'error instead of a token');
    }
    return Response.json(readTokenAnswer(members));
  };
}

/** Lists the sent values that an endpoint could repeat in its error. */
function listSent({ body }: CustomFetchOptions, secret: Secret | null): string[] {
  const form = new URLSearchParams(body instanceof URLSearchParams ? body : String(body ?? ''));
  const names = ['subject_token', 'client_assertion'];
  return [...names.map((name) => form.get(name) ?? ''), secret?.reveal() ?? ''];
}

function toNetworkFailure(
  error: unknown,
  maxResponseBytes: number,
  timeoutSeconds: number,
): ProviderFailure {
  if (error instanceof ResponseTooLong) {
    return createTokenFailure('protocol', `response is over ${maxResponseBytes} bytes`);
  }
  if (error instanceof DOMException && error.name === 'TimeoutError') {
    return createTokenFailure('timeout', `no response within ${timeoutSeconds} s`);
  }
  const cause = findCause(error);
  // The Fetch standard lists ports of other protocols, which browsers must not connect to.
  if (cause instanceof Error && cause.message === 'bad port') {
    return createTokenFailure('unavailable', 'fetch does not connect to this port: use another');
  }
  const { failure, detail } = createTransportFailure(cause, 'connecting');
  return createTokenFailure(failure, detail);
}

/** The failure omits its cause: errors of openid-client may contain the response. */
export function toTokenFailure(error: unknown): ProviderFailure {
  for (let current = error; current instanceof Error; current = current.cause) {
    if (isProviderFailure(current)) return current;
    const { attribute } = (current.cause ?? {}) as { readonly attribute?: unknown };
    if (typeof attribute === 'string') {
      const name = attribute.replace(/^as\./, '');
      return createTokenFailure('protocol', `${name} of the discovery is not valid`);
    }
  }
  return createTokenFailure('protocol', 'not a valid response');
}
