import { type Log, type SurfaceContext, SurfaceError } from '../../../core/contract/index.js';
import type { OidcIssuerConfig } from '../config.js';
import type { IssuedTokens, TokenIssuers } from '../sessions/token-renewal.js';
import { OidcClient } from './oidc-client.js';

const WARN_INTERVAL_MS = 1000;

export class OidcIssuers implements TokenIssuers {
  readonly #clients: ReadonlyMap<string, OidcClient>;
  readonly #log: Log;
  readonly #warnedAt = new Map<string, number>();

  /** @throws SurfaceError for issuers that do not fit the host. */
  constructor(
    issuers: readonly OidcIssuerConfig[],
    context: Pick<SurfaceContext, 'log' | 'secret' | 'issuers'>,
  ) {
    assertTrusted(issuers, context.issuers);
    this.#clients = new Map(
      issuers.map((config) => {
        const { client_secret: reference } = config;
        const readSecret = reference === undefined ? null : () => context.secret(reference);
        return [config.issuer, new OidcClient(config, readSecret, issuers.length === 1)];
      }),
    );
    assertDistinct([...this.#clients.values()]);
    this.#log = context.log;
  }

  find(issuer: string): OidcClient | undefined {
    return this.#clients.get(issuer);
  }

  async renew(issuer: string, refreshToken: string): Promise<IssuedTokens | null> {
    try {
      return (await this.find(issuer)?.renew(refreshToken)) ?? null;
    } catch (error) {
      this.warn({ err: error, issuer }, 'token renewal failed');
      throw error;
    }
  }

  async revoke(issuer: string, refreshToken: string): Promise<void> {
    try {
      await this.find(issuer)?.revoke(refreshToken);
    } catch (error) {
      this.warn({ err: error, issuer }, 'token revocation failed');
    }
  }

  /**
   * Logs at most one line a second for each issuer, because requests without credentials cause it.
   */
  warn(fields: { readonly issuer: string; readonly [name: string]: unknown }, message: string) {
    const now = performance.now();
    const warnedAt = this.#warnedAt.get(fields.issuer) ?? Number.NEGATIVE_INFINITY;
    if (now - warnedAt < WARN_INTERVAL_MS) return;
    this.#warnedAt.set(fields.issuer, now);
    this.#log.warn(fields, message);
  }
}

/** @throws SurfaceError for an issuer whose access tokens the host would reject. */
function assertTrusted(issuers: readonly OidcIssuerConfig[], trusted: readonly string[]): void {
  const unknown = issuers.find(({ issuer }) => !trusted.includes(issuer));
  if (unknown === undefined) return;
  const where = `surfaces.console.oidc names the issuer '${unknown.issuer}'`;
  throw new SurfaceError('validation_failed', `${where}: add it to the issuers file`);
}

/** @throws SurfaceError for issuers whose responses are indistinguishable. */
function assertDistinct(clients: readonly OidcClient[]): void {
  const paths = clients.map(({ ownCallback }) => ownCallback);
  const repeated = paths.find((path, index) => paths.indexOf(path) !== index);
  if (repeated === undefined) return;
  throw new SurfaceError(
    'validation_failed',
    `surfaces.console.oidc has two issuers for ${repeated}`,
  );
}
