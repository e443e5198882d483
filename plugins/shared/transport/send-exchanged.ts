import { createHash } from 'node:crypto';
import { type CallerTokens, type OpenContext, Secret } from '../../../core/contract/index.js';
import { isIssuerUrl } from '../loopback.js';
import { createRejection, ExchangedTokens, rejectsToken } from './exchanged-tokens.js';
import { type Sender, sendPlain } from './send-request.js';
import { sendWithToken } from './send-with-token.js';
import { isSameUrl, TokenEndpoint } from './tokens/token-endpoint.js';
import { TokenRejected } from './tokens/token-failure.js';
import { TokenSource } from './tokens/token-source.js';
import type { ExchangeConfig } from './transport-config.js';

const TIMEOUT_SECONDS = 5;
const MAX_RESPONSE_BYTES = 256 * 1_024;

/**
 * Sends the requests of each caller with a token on behalf of that caller. Requests of the host
 * itself have its own token, or none.
 * @throws Error for an endpoint that must not receive tokens of callers, and for an unusable key.
 */
export function createExchangeSender(
  config: ExchangeConfig,
  context: Pick<OpenContext, 'secret' | 'log' | 'callerTokens'>,
): Sender {
  const { secret, log } = context;
  const { endpoint, tokens } = createEndpoint(config, context);
  const exchanged = new ExchangedTokens({
    settings: digestSettings(config, secret),
    request: ({ value }) => endpoint.exchange(value, config),
    log,
  });
  const { host } = config;
  const clientTokens =
    host === undefined ? null : new TokenSource({ request: () => endpoint.request(host), log });
  const sendOwn = clientTokens === null ? sendPlain : sendWithToken(clientTokens);
  return {
    send: (replica, request, limits) => {
      const { context } = request;
      if (context === undefined || context.actor === null) {
        return sendOwn(replica, request, limits);
      }
      const token = tokens.find(context);
      if (token === null) {
        return Promise.reject(createRejection('the caller has no token of auth.exchange.issuer'));
      }
      return sendWithToken(exchanged.of(token, context.actor))(replica, request, limits);
    },
    problem: () => exchanged.problem ?? clientTokens?.problem ?? null,
  };
}

/** A token that no issuer knows. */
const UNKNOWN_TOKEN = 'modgate-check';

/**
 * Exchanges a token that the issuer cannot know, which checks the endpoint and the client.
 * @throws ProviderFailure for an unusable endpoint; Error like `createExchangeSender`.
 */
export async function tryExchange(
  config: ExchangeConfig,
  context: Pick<OpenContext, 'secret' | 'callerTokens'>,
): Promise<void> {
  const { endpoint } = createEndpoint(config, context);
  if (config.host !== undefined) await endpoint.request(config.host);
  try {
    await endpoint.exchange(new Secret(UNKNOWN_TOKEN), config);
  } catch (error) {
    if (!(error instanceof TokenRejected && rejectsToken(error))) throw error;
  }
}

function createEndpoint(
  config: ExchangeConfig,
  { secret, callerTokens: tokens }: Pick<OpenContext, 'secret' | 'callerTokens'>,
) {
  if (tokens === undefined) throw new Error('auth.exchange requires a host with an issuers file');
  assertEndpoint(config, tokens);
  const endpoint = new TokenEndpoint(config, secret, {
    timeoutSeconds: TIMEOUT_SECONDS,
    maxResponseBytes: MAX_RESPONSE_BYTES,
    key: 'auth.exchange',
    listAllowed: () => tokens.endpoints(),
  });
  return { endpoint, tokens };
}

/** Without a listed endpoint, the first request for a token checks the discovery. */
function assertEndpoint(
  { issuer, token_url: tokenUrl }: ExchangeConfig,
  callerTokens: CallerTokens,
): void {
  const endpoints = callerTokens.endpoints();
  if (tokenUrl !== undefined && endpoints !== null) {
    if (endpoints.some((endpoint) => isSameUrl(endpoint, tokenUrl))) return;
    throw new Error(
      "auth.exchange.token_url must be one of the issuer's token_endpoints in the issuers file",
    );
  }
  if (isIssuerUrl(issuer)) return;
  throw new Error(
    'auth.exchange.issuer has no discovery: name token_url, and list it in token_endpoints of the issuers file',
  );
}

/** Includes the secrets, because a token of another client must not be used. */
function digestSettings(config: ExchangeConfig, secret: OpenContext['secret']): string {
  const keys = [config.client_secret, config.private_key].map((reference) =>
    reference === undefined ? null : secret(reference).reveal(),
  );
  const { issuer, token_url, client_id, client_auth, scopes, audience, resource } = config;
  const settings = [issuer, token_url, client_id, client_auth, scopes, audience, resource, keys];
  return createHash('sha256').update(JSON.stringify(settings)).digest('hex');
}
