import type { CustomFetchOptions } from 'openid-client';
import {
  type FailureCode,
  isProviderFailure,
  ProviderFailure,
  type Secret,
} from '../../core/contract/index.js';
import { createTransportFailure } from '../shared/failures.js';
import { createIssuerFetch, ResponseTooLong } from '../shared/issuer-fetch.js';
import { isProtected } from '../shared/loopback.js';

/** RFC 6749, section 5.2; shorter, because operators read it. */
const ERROR_WORD = /^[\w.:/-]{1,100}$/;

interface FetchLimits {
  /** The time for each request. Seconds. */
  readonly timeoutSeconds: number;
  readonly maxResponseBytes: number;
}

export type TokenFetch = (url: string, options: CustomFetchOptions) => Promise<Response>;

/** An error response of a token endpoint. */
export class TokenRejected extends ProviderFailure {
  readonly answer: { readonly status: number; readonly error: string | null };

  constructor(status: number, error: string | null) {
    super('unavailable', `token endpoint: ${error ?? `status ${status}`}`, { phase: 'preparing' });
    this.answer = { status, error };
  }
}

/** Creates a fetch that throws a ProviderFailure for anything but a 2xx within the limits. */
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
    if (response.ok) return response;
    const error = await readErrorWord(response);
    const isEcho = error !== null && listSent(options, secret).some((sent) => sent.includes(error));
    throw new TokenRejected(response.status, isEcho ? null : error);
  };
}

/** Returns the `error` of the body; `null` without one. */
async function readErrorWord(response: Response): Promise<string | null> {
  const text = await response.text();
  try {
    const { error } = JSON.parse(text) as { readonly error?: unknown };
    return typeof error === 'string' && ERROR_WORD.test(error) ? error : null;
  } catch {
    // It is not a JSON object.
    return null;
  }
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
  // The cause of fetch's error is the error of the connection.
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
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
  }
  return createTokenFailure('protocol', 'not a valid response');
}

export function createTokenFailure(failure: FailureCode, problem: string): ProviderFailure {
  return new ProviderFailure(failure, `token endpoint: ${problem}`, { phase: 'preparing' });
}
