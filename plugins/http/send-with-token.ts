import { Readable } from 'node:stream';
import {
  type Cancellation,
  isBodyStream,
  isProviderFailure,
  type Outcome,
  ProviderFailure,
} from '../../core/contract/index.js';
import { createAbortFailure } from '../shared/failures.js';
import { type ProviderRequest, type SendRequest, sendWithHeader } from './send-request.js';
import type { AccessToken, Tokens } from './token-source.js';
import type { UpstreamLimits } from './upstream-request.js';

/**
 * Sends requests with a token. The call whose token the provider rejects is sent once more with a new one,
 * unless its body was a stream.
 */
export function sendWithToken(tokens: Tokens): SendRequest {
  const renew = ({ signal }: UpstreamLimits) => rejectOnAbort(tokens.renew(signal), signal);

  const sendAgain = async (...[replica, request, limits]: Parameters<SendRequest>) => {
    const token = await renew(limits);
    return addSecrets(await sendToken(token, replica, request, limits), token);
  };

  const sendFirst = (token: AccessToken, ...given: Parameters<SendRequest>) =>
    sendToken(token, ...given).then((outcome) => {
      // Most calls end here, so that a token costs them no more than a promise.
      if (outcome.status !== 401) return addSecrets(outcome, token);
      const [, { body }] = given;
      if (!tokens.drop(token) || isStream(body)) return addSecrets(outcome, token);
      if (outcome.body instanceof Readable) outcome.body.destroy();
      return sendAgain(...given);
    });

  return (replica, request, limits) => {
    const token = tokens.current();
    if (token !== null) return sendFirst(token, replica, request, limits);
    return renew(limits).then((issued) => sendFirst(issued, replica, request, limits));
  };
}

function sendToken(
  { value }: AccessToken,
  ...[replica, request, limits]: Parameters<SendRequest>
): Promise<Outcome> {
  const text = `Bearer ${value.reveal()}`;
  return sendWithHeader(replica, request, limits, 'authorization', text);
}

/** Changes the outcome, which nothing else has yet: a copy would cost each call. */
function addSecrets(outcome: Outcome, { secrets }: AccessToken): Outcome {
  return Object.assign(outcome, { secrets });
}

function isStream(body: ProviderRequest['body']): boolean {
  return body !== null && isBodyStream(body);
}

/** The request for a token continues: other calls wait for it too. */
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
