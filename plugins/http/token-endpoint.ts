import type { ClientAuth, Configuration, CustomFetchOptions } from 'openid-client';
import {
  type FailureCode,
  isProviderFailure,
  type OpenContext,
  ProviderFailure,
  Secret,
} from '../../core/contract/index.js';
import { createTransportFailure } from '../shared/failures.js';
import { createIssuerFetch, ResponseTooLong } from '../shared/issuer-fetch.js';
import { isProtected } from '../shared/loopback.js';
import { type ClientKey, readClientKey } from './client-key.js';
import type { OAuth2Config } from './oauth2-config.js';

/** For each request. Seconds. */
const TIMEOUT_SECONDS = 4;
const MAX_RESPONSE_BYTES = 64 * 1_024;
/** How long the discovery document is used. Milliseconds. */
const DISCOVERY_MS = 10 * 60_000;
/** Of a token without `expires_in`. Milliseconds. */
const DEFAULT_LIFETIME_MS = 5 * 60_000;

/** Visible ASCII: every server reads the header alike. */
const TOKEN = /^[\x21-\x7e]+$/;
/** RFC 6749, section 5.2; shorter, because operators read it. */
const ERROR_WORD = /^[\w.:/-]{1,100}$/;

export interface IssuedToken {
  readonly value: Secret;
  /** Milliseconds from the start of the request; at least 0. */
  readonly lifetimeMs: number;
}

/** Requests tokens by client credentials. */
export class TokenEndpoint {
  readonly #config: OAuth2Config;
  readonly #secret: Secret | null;
  readonly #key: ClientKey | null;
  #configuration: { readonly value: Configuration; readonly until: number } | null = null;

  /** @throws Error for a key that cannot be used. */
  constructor(config: OAuth2Config, secret: OpenContext['secret']) {
    const { client_secret: clientSecret, private_key: privateKey } = config;
    this.#config = config;
    this.#secret = clientSecret === undefined ? null : secret(clientSecret);
    this.#key = privateKey === undefined ? null : readClientKey(secret(privateKey).reveal());
  }

  /** @throws ProviderFailure, and nothing else; its detail is `token endpoint: …`. */
  async request(): Promise<IssuedToken> {
    try {
      const client = await import('openid-client');
      const configuration = await this.#configure();
      const { scopes, audience, resource } = this.#config;
      const answer = await client.clientCredentialsGrant(configuration, {
        ...(scopes !== undefined && { scope: scopes.join(' ') }),
        ...(audience !== undefined && { audience }),
        ...(resource !== undefined && { resource }),
      });
      const { access_token: token, token_type: type, expires_in: seconds } = answer;
      if (type.toLowerCase() !== 'bearer') throw createTokenFailure('protocol', 'no bearer token');
      if (!TOKEN.test(token)) {
        throw createTokenFailure('protocol', 'access_token is not visible ASCII');
      }
      const lifetimeMs = seconds === undefined ? DEFAULT_LIFETIME_MS : Math.max(0, seconds * 1_000);
      return { value: new Secret(token), lifetimeMs };
    } catch (error) {
      // The document of the discovery may have changed.
      this.#configuration = null;
      throw toTokenFailure(error);
    }
  }

  async #configure(): Promise<Configuration> {
    const now = performance.now();
    if (this.#configuration === null || now >= this.#configuration.until) {
      const value = await this.#createConfiguration();
      this.#configuration = { value, until: now + DISCOVERY_MS };
    }
    return this.#configuration.value;
  }

  async #createConfiguration(): Promise<Configuration> {
    const client = await import('openid-client');
    const { token_url: tokenUrl, issuer, client_id: clientId } = this.#config;
    const authentication = await this.#authenticate();
    if (issuer !== undefined) {
      return client.discovery(new URL(issuer), clientId, undefined, authentication, {
        timeout: TIMEOUT_SECONDS,
        [client.customFetch]: fetchToken,
        execute: [client.allowInsecureRequests],
      });
    }
    const server = { issuer: tokenUrl ?? '', token_endpoint: tokenUrl ?? '' };
    const configuration = new client.Configuration(server, clientId, undefined, authentication);
    configuration.timeout = TIMEOUT_SECONDS;
    configuration[client.customFetch] = fetchToken;
    // `fetchToken` allows plain HTTP on loopback alone.
    client.allowInsecureRequests(configuration);
    return configuration;
  }

  async #authenticate(): Promise<ClientAuth> {
    const client = await import('openid-client');
    if (this.#key !== null) {
      const { algorithm } = this.#key;
      return client.PrivateKeyJwt(await this.#key.load(), {
        [client.modifyAssertion]: (header, payload) => {
          header['alg'] = algorithm;
          payload['aud'] = this.#configuration?.value.serverMetadata().token_endpoint;
        },
      });
    }
    const secret = this.#secret?.reveal() ?? '';
    return this.#config.client_auth === 'post'
      ? client.ClientSecretPost(secret)
      : client.ClientSecretBasic(secret);
  }
}

const fetchBounded = createIssuerFetch(MAX_RESPONSE_BYTES);

/** @throws ProviderFailure for anything but a 2xx of at most 64 KiB. */
async function fetchToken(url: string, options: CustomFetchOptions): Promise<Response> {
  if (!isProtected(new URL(url))) {
    throw createTokenFailure('protocol', 'the URL from discovery is not https');
  }
  let response: Response;
  try {
    response = await fetchBounded(url, { ...options, redirect: 'manual' });
  } catch (error) {
    throw toNetworkFailure(error);
  }
  if (response.ok) return response;
  throw createTokenFailure('unavailable', await describeStatus(response));
}

/** The `error` of the body, otherwise the status. */
async function describeStatus(response: Response): Promise<string> {
  const text = await response.text();
  try {
    const { error } = JSON.parse(text) as { readonly error?: unknown };
    if (typeof error === 'string' && ERROR_WORD.test(error)) return error;
  } catch {
    // It is no JSON object.
  }
  return `status ${response.status}`;
}

function toNetworkFailure(error: unknown): ProviderFailure {
  if (error instanceof ResponseTooLong) {
    return createTokenFailure('protocol', `response is over ${MAX_RESPONSE_BYTES} bytes`);
  }
  if (error instanceof DOMException && error.name === 'TimeoutError') {
    return createTokenFailure('timeout', `no response within ${TIMEOUT_SECONDS} s`);
  }
  // fetch has the error of the connection as its cause.
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  const { failure, detail } = createTransportFailure(cause, false, 0);
  return createTokenFailure(failure, detail);
}

/** Without the error as its cause: those of openid-client may contain the response. */
function toTokenFailure(error: unknown): ProviderFailure {
  for (let one = error; one instanceof Error; one = one.cause) {
    if (isProviderFailure(one)) return one;
  }
  return createTokenFailure('protocol', 'not a valid response');
}

export function createTokenFailure(failure: FailureCode, problem: string): ProviderFailure {
  return new ProviderFailure(failure, `token endpoint: ${problem}`, { phase: 'preparing' });
}
