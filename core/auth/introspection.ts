import { LRUCache } from 'lru-cache';
import type { Actor, Secret } from '../contract/index.js';
import { QueueFull, Semaphore } from '../contract/semaphore.js';
import { nameNetwork } from '../lib/client-network.js';
import { markAccepted } from './accepted-by.js';
import { ActorCache } from './actor-cache.js';
import { MAX_TOKEN_LENGTH } from './actor-syntax.js';
import type { CallerCredentials } from './caller-credentials.js';
import { assertClaims } from './check-claims.js';
import type { Rejected } from './checked-authenticator.js';
import { IssuerError, requestIssuer } from './issuer-request.js';
import { type IntrospectionConfig, ISSUER_DEFAULTS } from './issuers-file.js';
import { createActor, dropNulls, nameIdClaim } from './map-claims.js';
import { RejectedToken, UnverifiableToken } from './rejected-token.js';
import type { RejectionLog } from './rejection-log.js';
import { readJwtParts, type VerifiedToken } from './verify-jwt.js';

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
    const { url, client_id, client_auth } = config;
    const usesForm = client_auth === 'post';
    const form = {
      ...{ token, token_type_hint: 'access_token' },
      ...(usesForm && { client_id, client_secret: secret.reveal() }),
    };
    const response = await requestIssuer(url, {
      method: 'POST',
      headers: {
        ...(!usesForm && { authorization: `Basic ${formatBasic(client_id, secret)}` }),
        'content-type': 'application/x-www-form-urlencoded',
      },
      body: new URLSearchParams(form).toString(),
      signal,
    });
    return parseIntrospection(response, config);
  } catch (error) {
    if (error instanceof IssuerError) {
      throw new UnverifiableToken(config.name, error.message, { cause: error });
    }
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
  const claims = dropNulls(response);
  if (claims['active'] !== true) throw new RejectedToken('the token is not active', 'revoked');
  const {
    issuer,
    audience,
    audience_claim: audienceClaim = ISSUER_DEFAULTS.audience_claim,
  } = config;
  const required = [nameIdClaim(config.actor)];
  assertClaims(claims, { issuer, audience, audienceClaim, required, skewSeconds: 0 });
  const { exp, token_type: type = 'bearer' } = claims;
  if (typeof type !== 'string' || !/^(?:bearer|access_token)$/i.test(type)) {
    throw new RejectedToken('the token is bound to a key', 'claim', { detail: 'token_type' });
  }
  const expiresAt = typeof exp === 'number' ? exp * MS_PER_SECOND : Number.POSITIVE_INFINITY;
  const actor = createActor(claims, config.actor);
  if (typeof exp !== 'number') return { actor, expiresAt };
  return { actor: { ...actor, expiresAt }, expiresAt };
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
  readonly #rejected = new LRUCache<string, Rejected>({
    max: MAX_REJECTED,
    ttl: REJECTED_TTL_MS,
  });
  readonly #pending = new Map<string, Promise<Actor | Rejected>>();
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
  ): Actor | Rejected | null | Promise<Actor | Rejected> {
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
    const tokenIssuer = issuer === undefined ? null : readJwtParts(token)?.issuer;
    return tokenIssuer == null || tokenIssuer === issuer;
  }

  async #request(token: string, digest: string, share: string): Promise<Actor | Rejected> {
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

  #reject(error: unknown, digest: string): Rejected {
    if (error instanceof QueueFull) {
      throw new UnverifiableToken(this.#config.name, `has too many requests: ${error.message}`);
    }
    if (!(error instanceof RejectedToken)) throw error;
    this.#rejections.report(this.#config.name, error);
    // A wrong mapping is not cached, because it may be corrected at any time.
    const rejected: Rejected = { rejected: error.reason, token: null, detail: error.detail };
    if (!error.isSuspicious) this.#rejected.set(digest, rejected);
    return rejected;
  }
}
