import { openFlow } from '../../../core/contract/body-flow.js';
import {
  type BodySink,
  type BodyStream,
  type Cancellation,
  isBodyStream,
  isProviderFailure,
  type Outcome,
  ProviderFailure,
} from '../../../core/contract/index.js';
import { createAbortFailure } from '../failures.js';
import {
  type CallLimits,
  type EndpointRequest,
  type SendRequest,
  sendWithHeader,
} from './send-request.js';
import type { AccessToken, Tokens } from './tokens/token-source.js';

/**
 * Sends requests with a token. A call whose token the provider rejects is repeated once with a new
 * token, unless its body was a stream.
 */
export function sendWithToken(tokens: Tokens): SendRequest {
  const renew = ({ signal }: CallLimits) => rejectOnAbort(tokens.renew(signal), signal);

  const sendAgain = async (...[replica, request, limits]: Parameters<SendRequest>) => {
    const token = await renew(limits);
    return addSecrets(await sendToken(token, replica, request, limits), token);
  };

  const sendFirst = (token: AccessToken, ...parameters: Parameters<SendRequest>) =>
    sendToken(token, ...parameters).then((outcome) => {
      // Most calls end here, so that a token costs them only a promise.
      if (outcome.status !== 401) return addSecrets(outcome, token);
      const [, { body }] = parameters;
      if (!tokens.drop(token) || isStream(body)) return addSecrets(outcome, token);
      if (isStream(outcome.body)) openFlow(outcome.body, IGNORED).stop();
      return sendAgain(...parameters);
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

/** Changes the outcome, which no other code has yet: a copy would cost each call. */
function addSecrets(outcome: Outcome, { secrets }: AccessToken): Outcome {
  return Object.assign(outcome, { secrets });
}

/** Receives nothing: the body is stopped before it begins. */
const IGNORED: BodySink = { write: () => false, end: () => {}, fail: () => {} };

function isStream(body: EndpointRequest['body'] | Outcome['body']): body is BodyStream {
  return body !== null && isBodyStream(body);
}

/** The request for a token continues, because other calls may wait for it. */
function rejectOnAbort<T>(work: Promise<T>, signal: Cancellation): Promise<T> {
  return new Promise((resolve, reject) => {
    const listener = { handleEvent: () => reject(createWaitFailure(signal.reason)) };
    if (signal.aborted) listener.handleEvent();
    signal.addEventListener('abort', listener);
    const end = () => signal.removeEventListener('abort', listener);
    work.then(resolve, reject).finally(end);
  });
}

/** Creates a failure that no circuit breaker counts, because the provider was not called. */
function createWaitFailure(reason: unknown): ProviderFailure {
  const { failure, message } = isProviderFailure(reason) ? reason : createAbortFailure(reason);
  const detail = `token endpoint: ${message}`;
  return new ProviderFailure(failure, message, { phase: 'preparing', detail });
}
