import type { Actor, Secret } from '../contract/index.js';
import { ExpiringCache } from '../lib/expiring-cache.js';
import { QueueFull, Semaphore } from '../lib/semaphore.js';
import { MAX_TOKEN_LENGTH } from './actor-syntax.js';
import { IssuerError, requestIssuer } from './issuer-request.js';
import { type IntrospectionConfig, ISSUER_DEFAULTS } from './issuers-file.js';
import { type Claims, createActor, UnmappedClaims } from './map-claims.js';
import type { RejectionLog } from './rejection-log.js';
import { RejectedToken, UnverifiableToken, type VerifiedToken } from './verify-jwt.js';

const MS_PER_SECOND = 1000;

/**
 * Asks an issuer what a token is worth (RFC 7662).
 * @throws RefusedToken when it is worth nothing; UnjudgedToken when the issuer does not say.
 */
export async function introspect(
  token: string,
  config: IntrospectionConfig,
  secret: Secret,
  signal: AbortSignal,
): Promise<VerifiedToken> {
  try {
    const answer = await requestIssuer(config.url, {
      method: 'POST',
      headers: {
        authorization: `Basic ${formatBasic(config.client_id, secret)}`,
        'content-type': 'application/x-www-form-urlencoded',
      },
      body: new URLSearchParams({ token, token_type_hint: 'access_token' }).toString(),
      signal,
    });
    return parseIntrospection(answer, config);
  } catch (error) {
    if (error instanceof IssuerError) {
      throw new UnverifiableToken(config.name, error.message, { cause: error });
    }
    if (error instanceof UnmappedClaims)
      throw new RejectedToken(error.message, true, { cause: error });
    throw error;
  }
}

/** RFC 6749 2.3.1: both are encoded as in a form before they are joined. */
function formatBasic(clientId: string, secret: Secret): string {
  const encode = (text: string) => new URLSearchParams({ '': text }).toString().slice(1);
  return Buffer.from(`${encode(clientId)}:${encode(secret.reveal())}`).toString('base64');
}

function parseIntrospection(answer: unknown, config: IntrospectionConfig): VerifiedToken {
  if (typeof answer !== 'object' || answer === null || !('active' in answer)) {
    throw new IssuerError('answered with no introspection');
  }
  const claims = answer as Claims;
  if (claims['active'] !== true) throw new RejectedToken('it is not active', false);
  const refusal = findRejection(claims, config);
  if (refusal !== null) throw new RejectedToken(refusal, false);
  const { exp } = claims;
  const expiresAt = typeof exp === 'number' ? exp * MS_PER_SECOND : Number.POSITIVE_INFINITY;
  return { actor: createActor(claims, config.actor), expiresAt };
}

/** An issuer may answer `active` by its own clock and for any resource: what it says besides is judged. */
function findRejection(claims: Claims, { issuer, audience }: IntrospectionConfig): string | null {
  const { exp, nbf, iss, aud, cnf, token_type: type } = claims;
  const now = Date.now() / MS_PER_SECOND;
  if (exp !== undefined && !(typeof exp === 'number' && exp > now)) return 'it has expired';
  if (nbf !== undefined && !(typeof nbf === 'number' && nbf <= now)) return 'it is of the future';
  if (issuer !== undefined && iss !== issuer) return 'another issuer made it';
  if (audience !== undefined && !isMeantFor(aud, [audience].flat()))
    return 'it is for another audience';
  const isBearer =
    type === undefined || (typeof type === 'string' && /^(?:bearer|access_token)$/i.test(type));
  return cnf === undefined && isBearer ? null : 'it is bound to a key';
}

function isMeantFor(aud: unknown, audiences: readonly string[]): boolean {
  return [aud].flat().some((one) => typeof one === 'string' && audiences.includes(one));
}

/** How long a refusal is remembered: long enough to blunt a flood, short enough for a token just made. */
const REJECTED_TTL_MS = 5000;
const MAX_CACHED = 10_000;
/** From the request of the caller, waiting for a turn included: before the host gives up. Milliseconds. */
const QUEUE_TIMEOUT_MS = 4000;
const MAX_CONCURRENT = 16;
const MAX_WAITING = 256;
/** What can stand in a header and in a form without being read as anything else (RFC 6750 2.1). */
const TOKEN = /^[A-Za-z0-9._~+/-]+=*$/;

/**
 * One issuer that is asked what tokens are worth. It fails closed: as long as the issuer does not answer,
 * a token that was not let in a moment ago is not let in. Nobody can make it ask for more than 16 tokens
 * at a time, nor twice for one.
 */
export class Introspection {
  readonly #config: IntrospectionConfig;
  readonly #secret: Secret;
  readonly #troubles: RejectionLog;
  readonly #known = new ExpiringCache<Actor>(MAX_CACHED);
  /** Apart from the known ones, which a flood of bad tokens must not push out. */
  readonly #refused = new ExpiringCache<true>(MAX_CACHED);
  readonly #asked = new Map<string, Promise<Actor | null>>();
  readonly #turns = new Semaphore(MAX_CONCURRENT, MAX_WAITING);

  constructor(config: IntrospectionConfig, secret: Secret, troubles: RejectionLog) {
    this.#config = config;
    this.#secret = secret;
    this.#troubles = troubles;
  }

  /**
   * @param digest of the token, by which it is remembered
   * @throws UnjudgedToken when the issuer does not say.
   */
  authenticate(token: string, digest: string): Actor | null | Promise<Actor | null> {
    if (token.length > MAX_TOKEN_LENGTH || !TOKEN.test(token)) return null;
    const known = this.#known.get(digest);
    if (known !== undefined) return known;
    if (this.#refused.get(digest) === true) return null;
    let asked = this.#asked.get(digest);
    if (asked === undefined) {
      asked = this.#ask(token, digest).finally(() => this.#asked.delete(digest));
      this.#asked.set(digest, asked);
    }
    return asked;
  }

  async #ask(token: string, digest: string): Promise<Actor | null> {
    const signal = AbortSignal.timeout(QUEUE_TIMEOUT_MS);
    try {
      const { actor, expiresAt } = await this.#turns.run(
        () => introspect(token, this.#config, this.#secret, signal),
        signal,
      );
      const cacheSeconds = this.#config.cache_seconds ?? ISSUER_DEFAULTS.cache_seconds;
      this.#known.set(
        digest,
        actor,
        Math.min(expiresAt, Date.now() + cacheSeconds * MS_PER_SECOND),
      );
      return actor;
    } catch (error) {
      this.#report(error, digest);
      return null;
    }
  }

  #report(error: unknown, digest: string): void {
    if (error instanceof QueueFull) {
      throw new UnverifiableToken(this.#config.name, `is asked too much: ${error.message}`);
    }
    if (!(error instanceof RejectedToken)) throw error;
    this.#troubles.report(this.#config.name, error);
    // What ops can mend may be mended at any moment.
    if (!error.isSuspicious) this.#refused.set(digest, true, Date.now() + REJECTED_TTL_MS);
  }
}
