import type { Configuration } from 'openid-client';
import type { Secret } from '../../../core/contract/index.js';
import { isLoopbackName, type OidcIssuerConfig } from '../config.js';
import { fetchFromIssuer } from './issuer-fetch.js';

/** For each request to the issuer. Seconds. */
const TIMEOUT_SECONDS = 5;
/** How long the metadata of the issuer is cached. Milliseconds. */
const DISCOVERY_MS = 10 * 60_000;

/** What a person at the issuer has to bring back. */
interface SignInChecks {
  readonly state: string;
  readonly nonce: string;
  readonly verifier: string;
}

/** One issuer at which people sign in: authorization code with PKCE. */
export class OidcClient {
  readonly issuer: string;
  readonly #config: OidcIssuerConfig;
  readonly #secret: Secret | null;
  #discovered: { readonly configuration: Promise<Configuration>; readonly at: number } | null =
    null;

  constructor(config: OidcIssuerConfig, secret: Secret | null) {
    this.issuer = config.issuer;
    this.#config = config;
    this.#secret = secret;
  }

  /** The address to send the browser to, and what has to come back. */
  async begin(redirectUri: string): Promise<{ readonly url: URL; readonly checks: SignInChecks }> {
    const client = await import('openid-client');
    const configuration = await this.#discover();
    const checks: SignInChecks = {
      state: client.randomState(),
      nonce: client.randomNonce(),
      verifier: client.randomPKCECodeVerifier(),
    };
    const { scopes = ['openid'], resource } = this.#config;
    const url = client.buildAuthorizationUrl(configuration, {
      redirect_uri: redirectUri,
      response_type: 'code',
      scope: [...new Set(['openid', ...scopes])].join(' '),
      code_challenge: await client.calculatePKCECodeChallenge(checks.verifier),
      code_challenge_method: 'S256',
      state: checks.state,
      nonce: checks.nonce,
      ...(resource !== undefined && { resource }),
    });
    return { url, checks };
  }

  /**
   * Verifies the answer of the issuer: state, `iss`, and the ID token with its issuer, audience and nonce.
   * @returns the access token.
   * @throws Error for anything that does not fit.
   */
  async finish(answer: URL, { state, nonce, verifier }: SignInChecks): Promise<string> {
    const client = await import('openid-client');
    const configuration = await this.#discover();
    const { resource } = this.#config;
    const tokens = await client.authorizationCodeGrant(
      configuration,
      answer,
      {
        expectedState: state,
        expectedNonce: nonce,
        pkceCodeVerifier: verifier,
        idTokenExpected: true,
      },
      resource === undefined ? {} : { resource },
    );
    return tokens.access_token;
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
    const authentication =
      this.#secret === null ? client.None() : client.ClientSecretBasic(this.#secret.reveal());
    const url = new URL(issuer);
    const isPlain = url.protocol === 'http:' && isLoopbackName(url.hostname);
    return client.discovery(url, clientId, undefined, authentication, {
      timeout: TIMEOUT_SECONDS,
      [client.customFetch]: fetchFromIssuer,
      ...(isPlain && { execute: [client.allowInsecureRequests] }),
    });
  }
}
