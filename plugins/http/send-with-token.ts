import { Readable } from 'node:stream';
import {
  type Cancellation,
  isBodyStream,
  isProviderFailure,
  ProviderFailure,
} from '../../core/contract/index.js';
import { createAbortFailure } from '../shared/failures.js';
import type { ProviderRequest, SendRequest } from './send-request.js';
import type { AccessToken, TokenSource } from './token-source.js';

/**
 * Sends requests with a token. The call whose token the provider rejects is sent once more with a new one,
 * unless its body was a stream.
 */
export function sendWithToken(
  tokens: Pick<TokenSource, 'current' | 'renew' | 'drop'>,
  send: SendRequest,
): SendRequest {
  return async (replica, request, limits) => {
    const renew = () => rejectOnAbort(tokens.renew(), limits.signal);
    const token = tokens.current() ?? (await renew());
    const outcome = await send(replica, addToken(request, token), limits);
    const isRepeated = outcome.status === 401 && tokens.drop(token) && !isStream(request.body);
    if (!isRepeated) return { ...outcome, secrets: token.secrets };
    if (outcome.body instanceof Readable) outcome.body.destroy();
    const next = await renew();
    return { ...(await send(replica, addToken(request, next), limits)), secrets: next.secrets };
  };
}

function addToken(request: ProviderRequest, { value }: AccessToken): ProviderRequest {
  const headers = { ...request.headers, authorization: `Bearer ${value.reveal()}` };
  return { ...request, headers };
}

function isStream(body: ProviderRequest['body']): boolean {
  return body !== null && isBodyStream(body);
}

/** The request for a token goes on: other calls wait for it too. */
function rejectOnAbort<T>(work: Promise<T>, signal: Cancellation): Promise<T> {
  return new Promise((resolve, reject) => {
    const listener = { handleEvent: () => reject(createWaitFailure(signal.reason)) };
    if (signal.aborted) listener.handleEvent();
    signal.addEventListener('abort', listener);
    const end = () => signal.removeEventListener('abort', listener);
    work.then(resolve, reject).finally(end);
  });
}

/** No circuit breaker counts what the provider was not asked. */
function createWaitFailure(reason: unknown): ProviderFailure {
  const { failure, message } = isProviderFailure(reason) ? reason : createAbortFailure(reason);
  const detail = `token endpoint: ${message}`;
  return new ProviderFailure(failure, message, { phase: 'preparing', detail });
}
