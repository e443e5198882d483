import type { Actor, Secret } from '../contract/index.js';
import { BoundedCache } from '../lib/expiring-cache.js';
import { AskingTurns, NoTurn } from '../lib/semaphore.js';
import { MAX_TOKEN_LENGTH } from './actor-syntax.js';
import { introspect } from './introspect.js';
import { type IntrospectionConfig, ISSUER_DEFAULTS } from './issuers-file.js';
import type { TroubleLog } from './rejection-log.js';
import { RefusedToken, UnjudgedToken } from './verify-jwt.js';

/** How long a refusal is remembered: long enough to blunt a flood, short enough for a token just made. */
const REFUSED_MS = 5000;
const MAX_REMEMBERED = 10_000;
/** From the request of the caller, waiting for a turn included: before the host gives up. Milliseconds. */
const PATIENCE_MS = 4000;
const MAX_ASKING = 16;
const MAX_WAITING = 256;
const MS_PER_SECOND = 1000;
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
  readonly #troubles: TroubleLog;
  readonly #known = new BoundedCache<Actor>(MAX_REMEMBERED);
  /** Apart from the known ones, which a flood of bad tokens must not push out. */
  readonly #refused = new BoundedCache<true>(MAX_REMEMBERED);
  readonly #asked = new Map<string, Promise<Actor | null>>();
  readonly #turns = new AskingTurns(MAX_ASKING, MAX_WAITING);

  constructor(config: IntrospectionConfig, secret: Secret, troubles: TroubleLog) {
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
    const signal = AbortSignal.timeout(PATIENCE_MS);
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
    if (error instanceof NoTurn) {
      throw new UnjudgedToken(this.#config.name, `is asked too much: ${error.message}`);
    }
    if (!(error instanceof RefusedToken)) throw error;
    this.#troubles.report(this.#config.name, error);
    // What ops can mend may be mended at any moment.
    if (!error.isTrouble) this.#refused.set(digest, true, Date.now() + REFUSED_MS);
  }
}
