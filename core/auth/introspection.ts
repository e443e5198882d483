import { LRUCache } from 'lru-cache';
import type { Actor, CredentialReason, RejectedCredentials, Secret } from '../contract/index.js';
import { QueueFull, Semaphore } from '../contract/semaphore.js';
import { nameNetwork } from '../lib/client-network.js';
import { markAccepted } from './accepted-by.js';
import { ActorCache } from './actor-cache.js';
import { MAX_TOKEN_LENGTH } from './actor-syntax.js';
import type { CallerCredentials } from './caller-credentials.js';
import { IssuerError, requestIssuer } from './issuer-request.js';
import { type IntrospectionConfig, ISSUER_DEFAULTS } from './issuers-file.js';
import { type Claims, createActor, UnmappedClaims } from './map-claims.js';
import type { RejectionLog } from './rejection-log.js';
import {
  RejectedToken,
  readJwtParts,
  UnverifiableToken,
  type VerifiedToken,
} from './verify-jwt.js';

const MS_PER_SECOND = 1000;

/**
 * Token introspection (RFC 7662).
 * @throws RejectedToken for an invalid token; UnverifiableToken when the issuer gives no usable response.
 */
async function introspect(
  token: string,
  config: IntrospectionConfig,
  secret: Secret,
  signal: AbortSignal,
): Promise<VerifiedToken> {
  try {
    const response = await requestIssuer(config.url, {
      method: 'POST',
      headers: {
        authorization: `Basic ${formatBasic(config.client_id, secret)}`,
        'content-type': 'application/x-www-form-urlencoded',
      },
      body: new URLSearchParams({ token, token_type_hint: 'access_token' }).toString(),
      signal,
    });
    return parseIntrospection(response, config);
  } catch (error) {
    if (error instanceof IssuerError) {
      throw new UnverifiableToken(config.name, error.message, { cause: error });
    }
    if (error instanceof UnmappedClaims)
      throw new RejectedToken(error.message, 'malformed', { isSuspicious: true, cause: error });
    throw error;
  }
}

/**
 * Checks the issuer, the client and its secret with a token that the issuer cannot know.
 * @returns why the response is unusable; `null` for a usable one
 */
export async function findIntrospectionProblem(
  config: IntrospectionConfig,
  secret: Secret,
): Promise<string | null> {
  try {
    await introspect('modgate-check', config, secret, AbortSignal.timeout(QUEUE_TIMEOUT_MS));
    return null;
  } catch (error) {
    if (error instanceof RejectedToken) return null;
    if (error instanceof UnverifiableToken) return error.message;
    throw error;
  }
}

/** RFC 6749, section 2.3.1: both parts are form-encoded first. */
function formatBasic(clientId: string, secret: Secret): string {
  const encode = (text: string) => new URLSearchParams({ '': text }).toString().slice(1);
  return Buffer.from(`${encode(clientId)}:${encode(secret.reveal())}`).toString('base64');
}

function parseIntrospection(response: unknown, config: IntrospectionConfig): VerifiedToken {
  if (typeof response !== 'object' || response === null || !('active' in response)) {
    throw new IssuerError('did not respond with an introspection');
  }
  const claims = response as Claims;
  if (claims['active'] !== true) throw new RejectedToken('the token is not active', 'revoked');
  const rejection = findRejection(claims, config);
  if (rejection !== null) throw new RejectedToken(...rejection);
  const { exp } = claims;
  const expiresAt = typeof exp === 'number' ? exp * MS_PER_SECOND : Number.POSITIVE_INFINITY;
  const actor = createActor(claims, config.actor);
  if (typeof exp !== 'number') return { actor, expiresAt };
  return { actor: { ...actor, expiresAt }, expiresAt };
}

/**
 * Checks all claims, because an issuer may report `active` by its own clock and for any resource.
 */
function findRejection(
  claims: Claims,
  { issuer, audience }: IntrospectionConfig,
): readonly [string, CredentialReason] | null {
  const { exp, nbf, iss, aud, cnf, token_type: type } = claims;
  const now = Date.now() / MS_PER_SECOND;
  if (exp !== undefined && !(typeof exp === 'number' && exp > now)) {
    return ['the token has expired', 'expired'];
  }
  if (nbf !== undefined && !(typeof nbf === 'number' && nbf <= now)) {
    return ['the token is not valid yet', 'not_yet_valid'];
  }
  if (issuer !== undefined && iss !== issuer) return ['the token is from another issuer', 'issuer'];
  if (audience !== undefined && !isMeantFor(aud, [audience].flat())) {
    return ['the token is for another audience', 'audience'];
  }
  const isBearer =
    type === undefined || (typeof type === 'string' && /^(?:bearer|access_token)$/i.test(type));
  return cnf === undefined && isBearer ? null : ['the token is bound to a key', 'malformed'];
}

function isMeantFor(aud: unknown, audiences: readonly string[]): boolean {
  return [aud]
    .flat()
    .some((audience) => typeof audience === 'string' && audiences.includes(audience));
}

/** Long enough to absorb a flood, short enough for a token that was just issued. */
const REJECTED_TTL_MS = 5000;
const MAX_REJECTED = 10_000;
/** Includes the time in the queue. Shorter than the timeout of an authenticator. Milliseconds. */
const QUEUE_TIMEOUT_MS = 4000;
const MAX_CONCURRENT = 16;
const MAX_WAITING = 256;
/** Safe in a header and in a form (RFC 6750, section 2.1). */
const TOKEN = /^[A-Za-z0-9._~+/-]+=*$/;

/**
 * Introspection at one issuer. It fails closed: while the issuer does not respond, only cached tokens are
 * accepted. At most 16 requests run at a time, one per token, and each source address has a share of the
 * queue, so that random tokens from one address do not keep out the others.
 */
export class Introspection {
  readonly #config: IntrospectionConfig;
  readonly #secret: Secret;
  readonly #rejections: RejectionLog;
  readonly #accepted = new ActorCache();
  /** A separate cache, so that a flood of invalid tokens does not evict valid ones. */
  readonly #rejected = new LRUCache<string, RejectedCredentials>({
    max: MAX_REJECTED,
    ttl: REJECTED_TTL_MS,
  });
  readonly #pending = new Map<string, Promise<Actor | RejectedCredentials>>();
  readonly #semaphore = new Semaphore(MAX_CONCURRENT, MAX_WAITING);

  constructor(config: IntrospectionConfig, secret: Secret, rejections: RejectionLog) {
    this.#config = config;
    this.#secret = secret;
    this.#rejections = rejections;
  }

  /**
   * @param digest of the token: the key of the caches
   * @throws UnverifiableToken when the issuer gives no usable response in time.
   */
  authenticate(
    { token, address }: Pick<CallerCredentials, 'token' | 'address'>,
    digest: string,
  ): Actor | RejectedCredentials | null | Promise<Actor | RejectedCredentials> {
    if (!this.#hasFormat(token)) return null;
    const accepted = this.#accepted.get(digest);
    if (accepted !== undefined) return accepted;
    const rejected = this.#rejected.get(digest);
    if (rejected !== undefined) return rejected;
    let pending = this.#pending.get(digest);
    if (pending === undefined) {
      const share = address === undefined ? '' : nameNetwork(address);
      pending = this.#request(token, digest, share).finally(() => this.#pending.delete(digest));
      this.#pending.set(digest, pending);
    }
    return pending;
  }

  /** Whether the issuer could have issued the token: a cheap check before any request. */
  #hasFormat(token: string): boolean {
    const { issuer, token_format: format } = this.#config;
    const { prefix = '', min_length = 1, max_length = MAX_TOKEN_LENGTH } = format ?? {};
    if (token.length < min_length || token.length > max_length) return false;
    if (!token.startsWith(prefix) || !TOKEN.test(token)) return false;
    const tokenIssuer = issuer === undefined ? undefined : readJwtParts(token)?.issuer;
    return tokenIssuer === undefined || tokenIssuer === issuer;
  }

  async #request(
    token: string,
    digest: string,
    share: string,
  ): Promise<Actor | RejectedCredentials> {
    const signal = AbortSignal.timeout(QUEUE_TIMEOUT_MS);
    try {
      const verified = await this.#semaphore.run(
        () => introspect(token, this.#config, this.#secret, signal),
        { signal, share },
      );
      const { issuer, name } = this.#config;
      markAccepted(verified.actor, { issuer: issuer ?? name, expiresAt: verified.expiresAt });
      const cacheSeconds = this.#config.cache_seconds ?? ISSUER_DEFAULTS.cache_seconds;
      this.#accepted.set(digest, verified, cacheSeconds * MS_PER_SECOND);
      return verified.actor;
    } catch (error) {
      return this.#reject(error, digest);
    }
  }

  #reject(error: unknown, digest: string): RejectedCredentials {
    if (error instanceof QueueFull) {
      throw new UnverifiableToken(this.#config.name, `has too many requests: ${error.message}`);
    }
    if (!(error instanceof RejectedToken)) throw error;
    this.#rejections.report(this.#config.name, error);
    // A wrong mapping is not cached, because it may be corrected at any time.
    const rejected = { rejected: error.reason };
    if (!error.isSuspicious) this.#rejected.set(digest, rejected);
    return rejected;
  }
}
