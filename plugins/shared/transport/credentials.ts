import { isProviderFailure, type OpenContext, Secret } from '../../../core/contract/index.js';
import { createExchangeSender, tryExchange } from './send-exchanged.js';
import { type Sender, type SendRequest, sendPlain, sendWithHeader } from './send-request.js';
import { sendSigned } from './send-signed.js';
import { sendWithToken } from './send-with-token.js';
import { TokenEndpoint } from './tokens/token-endpoint.js';
import { TokenSource } from './tokens/token-source.js';
import type { AuthConfig } from './transport-config.js';

/**
 * Sends requests with the credentials of the config.
 * @throws Error for an unusable secret; the message names the key, not the value.
 */
export async function createSender(
  config: AuthConfig | undefined,
  context: Pick<OpenContext, 'secret' | 'log' | 'openSigner' | 'callerTokens'>,
): Promise<Sender> {
  if (config === undefined) return withoutProblem(sendPlain);
  const { secret, log, openSigner } = context;
  if (config.signer !== undefined) {
    if (openSigner === undefined) throw new Error('auth.signer requires a host with signers');
    return withoutProblem(sendSigned(await openSigner(), sendPlain));
  }
  const { bearer, basic, header, oauth2, exchange } = config;
  if (exchange !== undefined) return createExchangeSender(exchange, context);
  if (bearer !== undefined) {
    return createHeaderSender('authorization', `Bearer ${secret(bearer).reveal()}`);
  }
  if (basic !== undefined) {
    const pair = Buffer.from(`${basic.username}:${secret(basic.password).reveal()}`);
    return createHeaderSender('authorization', `Basic ${pair.toString('base64')}`);
  }
  if (header !== undefined) {
    return createHeaderSender(header.name.toLowerCase(), secret(header.value).reveal());
  }
  if (oauth2 === undefined) return withoutProblem(sendPlain);
  const endpoint = new TokenEndpoint(oauth2, secret);
  const tokens = new TokenSource({ request: () => endpoint.request(oauth2), log });
  return { send: sendWithToken(tokens), problem: () => tokens.problem };
}

/**
 * Requests a token like the first call.
 * @returns the reason of a failure; `null` for credentials without a request
 */
export async function tryCredentials(
  config: AuthConfig | undefined,
  context: Pick<OpenContext, 'secret' | 'callerTokens'>,
): Promise<string | null> {
  const { oauth2, exchange } = config ?? {};
  try {
    if (oauth2 !== undefined) await new TokenEndpoint(oauth2, context.secret).request(oauth2);
    if (exchange !== undefined) await tryExchange(exchange, context);
    return null;
  } catch (error) {
    if (isProviderFailure(error)) return error.detail;
    throw error;
  }
}

function withoutProblem(send: SendRequest): Sender {
  return { send, problem: () => null };
}

function createHeaderSender(name: string, text: string): Sender {
  const value = new Secret(text);
  return withoutProblem((replica, request, limits) =>
    sendWithHeader(replica, request, limits, name, value.reveal()),
  );
}
