import type { ClientAuth, Configuration, TokenEndpointResponse } from 'openid-client';
import { type OpenContext, Secret } from '../../../../core/contract/index.js';
import { type ClientKey, readClientKey } from '../client-key.js';
import type { OAuth2Config } from '../transport-config.js';
import { createTokenFailure } from './token-failure.js';
import { createTokenFetch, type TokenFetch, toTokenFailure } from './token-fetch.js';

/** How long the discovery document is cached. Milliseconds. */
const DISCOVERY_MS = 10 * 60_000;
/** The lifetime of a token without `expires_in`. Milliseconds. */
const DEFAULT_LIFETIME_MS = 5 * 60_000;

export interface IssuedToken {
  readonly value: Secret;
  /** Milliseconds from the start of the request; at least 0. */
  readonly lifetimeMs: number;
}

/** The purpose of a token. */
interface Grant {
  readonly scopes?: readonly string[] | undefined;
  readonly audience?: string | undefined;
  readonly resource?: string | undefined;
}

type TokenClient = Pick<
  OAuth2Config,
  'token_url' | 'issuer' | 'client_id' | 'client_secret' | 'client_auth' | 'private_key'
>;

interface EndpointOptions {
  /** The time for each request. Seconds. */
  readonly timeoutSeconds: number;
  readonly maxResponseBytes: number;
  /** The key of the config, for errors. */
  readonly key: string;
  /**
   * The endpoints that may receive tokens of callers; `null` for that of the issuer's discovery.
   * Default: the configured endpoint may receive any token.
   */
  readonly listAllowed?: () => readonly string[] | null;
}

const OAUTH2_OPTIONS: EndpointOptions = {
  timeoutSeconds: 4,
  maxResponseBytes: 64 * 1_024,
  key: 'auth.oauth2',
};

/** RFC 8693. */
const TOKEN_EXCHANGE = 'urn:ietf:params:oauth:grant-type:token-exchange';
const ACCESS_TOKEN = 'urn:ietf:params:oauth:token-type:access_token';

/** Requests tokens for one client. */
export class TokenEndpoint {
  readonly #config: TokenClient;
  readonly #options: EndpointOptions;
  readonly #fetch: TokenFetch;
  readonly #secret: Secret | null;
  readonly #key: ClientKey | null;
  #configuration: { readonly value: Configuration; readonly until: number } | null = null;

  /** @throws Error for an unusable key. */
  constructor(
    config: TokenClient,
    secret: OpenContext['secret'],
    options: EndpointOptions = OAUTH2_OPTIONS,
  ) {
    const { client_secret: clientSecret, private_key: privateKey } = config;
    this.#config = config;
    this.#options = options;
    this.#secret = clientSecret === undefined ? null : secret(clientSecret);
    this.#key =
      privateKey === undefined ? null : readClientKey(secret(privateKey).reveal(), options.key);
    this.#fetch = createTokenFetch(options, this.#secret);
  }

  /**
   * Requests a token by client credentials (RFC 6749, section 4.4).
   * @throws ProviderFailure only; its detail is `token endpoint: …`.
   */
  request(grant: Grant): Promise<IssuedToken> {
    return this.#send(async (client, configuration) =>
      client.clientCredentialsGrant(configuration, writeGrant(grant)),
    );
  }

  /**
   * Requests a token in exchange for that of a caller (RFC 8693).
   * @throws ProviderFailure only; its detail is `token endpoint: …`.
   */
  exchange(token: Secret, grant: Grant): Promise<IssuedToken> {
    return this.#send(async (client, configuration) =>
      client.genericGrantRequest(configuration, TOKEN_EXCHANGE, {
        subject_token: token.reveal(),
        subject_token_type: ACCESS_TOKEN,
        requested_token_type: ACCESS_TOKEN,
        ...writeGrant(grant),
      }),
    );
  }

  async #send(
    request: (
      client: typeof import('openid-client'),
      configuration: Configuration,
    ) => Promise<TokenEndpointResponse>,
  ): Promise<IssuedToken> {
    try {
      const client = await import('openid-client');
      const configuration = await this.#configure();
      this.#assertAllowed(configuration.serverMetadata().token_endpoint);
      const answer = await request(client, configuration);
      const { access_token: token, expires_in: seconds } = answer;
      const lifetimeMs = seconds === undefined ? DEFAULT_LIFETIME_MS : seconds * 1_000;
      return { value: new Secret(token), lifetimeMs };
    } catch (error) {
      // The document of the discovery may have changed.
      this.#configuration = null;
      throw toTokenFailure(error);
    }
  }

  /** The issuers file may have changed since the endpoint was discovered. */
  #assertAllowed(endpoint: string | undefined): void {
    const { listAllowed } = this.#options;
    if (listAllowed === undefined) return;
    const { token_url: configured } = this.#config;
    const allowed = readAllowed(listAllowed);
    if (configured !== undefined && !isSameUrl(endpoint, configured)) {
      throw createTokenFailure('protocol', 'token_url is not that of the discovery');
    }
    if (allowed !== null && !allowed.some((listed) => isSameUrl(listed, endpoint))) {
      throw createTokenFailure('protocol', 'not one of token_endpoints in the issuers file');
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
    const { timeoutSeconds: timeout } = this.#options;
    const { token_url: tokenUrl, issuer, client_id: clientId } = this.#config;
    const authentication = await this.#authenticate();
    if (tokenUrl === undefined || (issuer !== undefined && this.#needsDiscovery(tokenUrl))) {
      return client.discovery(new URL(issuer ?? ''), clientId, undefined, authentication, {
        timeout,
        [client.customFetch]: this.#fetch,
        execute: [client.allowInsecureRequests],
      });
    }
    const server = { issuer: tokenUrl, token_endpoint: tokenUrl };
    const configuration = new client.Configuration(server, clientId, undefined, authentication);
    configuration.timeout = timeout;
    configuration[client.customFetch] = this.#fetch;
    // The fetch allows plain HTTP on loopback only.
    client.allowInsecureRequests(configuration);
    return configuration;
  }

  /** Whether only the discovery can prove that the endpoint is the issuer's. */
  #needsDiscovery(tokenUrl: string): boolean {
    const { listAllowed } = this.#options;
    if (listAllowed === undefined) return false;
    return readAllowed(listAllowed)?.some((listed) => isSameUrl(listed, tokenUrl)) !== true;
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

function writeGrant({ scopes, audience, resource }: Grant): Record<string, string> {
  return {
    ...(scopes !== undefined && { scope: scopes.join(' ') }),
    ...(audience !== undefined && { audience }),
    ...(resource !== undefined && { resource }),
  };
}

function readAllowed(list: () => readonly string[] | null): readonly string[] | null {
  try {
    return list();
  } catch {
    throw createTokenFailure('protocol', 'the issuers file does not have its issuer any more');
  }
}

/** Compares as URLs, because a default port may be omitted. */
export function isSameUrl(url: string | undefined, other: string | undefined): boolean {
  if (url === undefined || other === undefined) return false;
  return new URL(url).href === new URL(other).href;
}
