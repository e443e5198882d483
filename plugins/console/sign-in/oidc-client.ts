import type {
  Configuration,
  TokenEndpointResponse,
  TokenEndpointResponseHelpers,
} from 'openid-client';
import type { Secret } from '../../../core/contract/index.js';
import { isLoopbackUrl } from '../../../core/contract/loopback.js';
import { createIssuerFetch } from '../../shared/issuer-fetch.js';
import type { OidcIssuerConfig } from '../config.js';
import { OIDC_CALLBACK } from '../paths.js';
import type { IssuedTokens } from '../sessions/token-renewal.js';
import { createState } from './oidc-cookie.js';
import { createSecretAuth, unwrapFailure, withUsualTokens } from './token-responses.js';

/** The time for each request to the issuer. Seconds. */
const TIMEOUT_SECONDS = 5;
/** How long the metadata of the issuer is cached. Milliseconds. */
const DISCOVERY_MS = 10 * 60_000;
const MAX_REFRESH_TOKEN_LENGTH = 16_384;
const MS_PER_SECOND = 1000;

/** The values that the response of the issuer must contain. */
interface SignInChecks {
  readonly state: string;
  readonly nonce: string;
  readonly verifier: string;
}

interface SignInBegin {
  readonly url: URL;
  readonly checks: SignInChecks;
  /** The path for the response of the issuer. */
  readonly callback: string;
}

/** An issuer at which people sign in: authorization code with PKCE. */
export class OidcClient {
  readonly issuer: string;
  /** The callback of this issuer only: `/console/api/oidc/callback/login.example`. */
  readonly ownCallback: string;
  readonly #config: OidcIssuerConfig;
  readonly #readSecret: (() => Secret) | null;
  readonly #isOnly: boolean;
  #discovered: { readonly configuration: Promise<Configuration>; readonly at: number } | null =
    null;

  /**
   * @param readSecret reads the current secret of the client; `null` without one
   * @param isOnly whether it is the only issuer
   */
  constructor(config: OidcIssuerConfig, readSecret: (() => Secret) | null, isOnly: boolean) {
    this.issuer = config.issuer;
    this.ownCallback = `${OIDC_CALLBACK}/${toSegment(config.issuer)}`;
    this.#isOnly = isOnly;
    this.#config = config;
    this.#readSecret = readSecret;
  }

  /** Returns the address for the browser, and the values that the response must contain. */
  async begin(origin: string): Promise<SignInBegin> {
    const client = await import('openid-client');
    const configuration = await this.#discover();
    const callback = this.#findCallback(configuration);
    const checks: SignInChecks = {
      state: createState(),
      nonce: client.randomNonce(),
      verifier: client.randomPKCECodeVerifier(),
    };
    const { scopes = ['openid'], resource } = this.#config;
    const url = client.buildAuthorizationUrl(configuration, {
      redirect_uri: origin + callback,
      response_type: 'code',
      scope: [...new Set(['openid', ...scopes])].join(' '),
      code_challenge: await client.calculatePKCECodeChallenge(checks.verifier),
      code_challenge_method: 'S256',
      state: checks.state,
      nonce: checks.nonce,
      ...(resource !== undefined && { resource }),
    });
    return { url, checks, callback };
  }

  /**
   * With one path for all issuers, an issuer could receive the code of another (mix-up), unless the
   * response names its issuer (RFC 9207), which openid-client then requires.
   */
  #findCallback(configuration: Configuration): string {
    const metadata = configuration.serverMetadata();
    const isNamed = metadata.authorization_response_iss_parameter_supported === true;
    return this.#isOnly || isNamed ? OIDC_CALLBACK : this.ownCallback;
  }

  /**
   * Verifies the response of the issuer: state, `iss`, and the ID token with its issuer, audience
   * and nonce.
   * @throws Error for an invalid response.
   */
  async finish(answer: URL, { state, nonce, verifier }: SignInChecks): Promise<IssuedTokens> {
    const client = await import('openid-client');
    const configuration = await this.#discover();
    const checks = {
      expectedState: state,
      expectedNonce: nonce,
      pkceCodeVerifier: verifier,
      idTokenExpected: true,
    };
    const parameters = this.#tokenParameters();
    return readTokens(
      await unwrapFailure(client.authorizationCodeGrant(configuration, answer, checks, parameters)),
    );
  }

  /**
   * @returns `null` if the issuer rejects the refresh token.
   * @throws Error if it does not answer, and for an invalid response.
   */
  async renew(refreshToken: string): Promise<IssuedTokens | null> {
    const client = await import('openid-client');
    const configuration = await this.#discover();
    try {
      const parameters = this.#tokenParameters();
      return readTokens(
        await unwrapFailure(client.refreshTokenGrant(configuration, refreshToken, parameters)),
      );
    } catch (error) {
      if (error instanceof client.ResponseBodyError && error.error === 'invalid_grant') return null;
      throw error;
    }
  }

  /** Revokes a refresh token if the issuer has an endpoint for it. @throws Error if that fails. */
  async revoke(refreshToken: string): Promise<void> {
    const client = await import('openid-client');
    const configuration = await this.#discover();
    if (configuration.serverMetadata().revocation_endpoint === undefined) return;
    await client.tokenRevocation(configuration, refreshToken, { token_type_hint: 'refresh_token' });
  }

  #tokenParameters(): Record<string, string> {
    const { resource } = this.#config;
    return resource === undefined ? {} : { resource };
  }

  #discover(): Promise<Configuration> {
    const now = performance.now();
    if (this.#discovered === null || now - this.#discovered.at > DISCOVERY_MS) {
      const configuration = this.#readConfiguration();
      this.#discovered = { configuration, at: now };
      configuration.catch(() => {
        this.#discovered = null;
      });
    }
    return this.#discovered.configuration;
  }

  async #readConfiguration(): Promise<Configuration> {
    const client = await import('openid-client');
    const { issuer, client_id: clientId } = this.#config;
    const readSecret = this.#readSecret;
    const authentication =
      readSecret === null ? client.None() : createSecretAuth(client, readSecret);
    const url = new URL(issuer);
    const isPlain = url.protocol === 'http:' && isLoopbackUrl(url);
    return client.discovery(url, clientId, undefined, authentication, {
      timeout: TIMEOUT_SECONDS,
      [client.customFetch]: withUsualTokens(fetchFromIssuer),
      // Without this option, the signature of an ID token is not verified if TLS protects the token
      // endpoint.
      execute: [
        client.enableNonRepudiationChecks,
        ...(isPlain ? [client.allowInsecureRequests] : []),
      ],
    });
  }
}

function readTokens(tokens: TokenEndpointResponse & TokenEndpointResponseHelpers): IssuedTokens {
  const seconds = tokens.expiresIn() ?? Number.POSITIVE_INFINITY;
  const { access_token: accessToken, refresh_token: refreshToken = '' } = tokens;
  // A refresh token beyond what a record holds is not kept: the session ends with its token.
  const isKept = refreshToken !== '' && refreshToken.length <= MAX_REFRESH_TOKEN_LENGTH;
  return {
    accessToken,
    refreshToken: isKept ? refreshToken : null,
    expiresAt: Date.now() + seconds * MS_PER_SECOND,
  };
}

/** Formats the URL of an issuer as a readable path segment: `login.example-realms-acme`. */
function toSegment(issuer: string): string {
  return issuer
    .replace(/^https?:\/\//, '')
    .replace(/[^A-Za-z0-9.-]+/g, '-')
    .replace(/-+$/, '');
}

/** Metadata, keys and tokens have a few kilobytes. */
const MAX_RESPONSE_BYTES = 256 * 1024;

export const fetchFromIssuer = createIssuerFetch(MAX_RESPONSE_BYTES);
