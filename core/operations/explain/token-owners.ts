import { AUTHORIZATION_ONLY, authenticateWith } from '../../auth/authenticate.js';
import { createBearerCredentials } from '../../auth/caller-credentials.js';
import { type CheckedAuthenticator, isRejected } from '../../auth/checked-authenticator.js';
import type { Actor, Log } from '../../contract/index.js';
import { injectable } from '../../injection.js';
import { nameActor } from '../../lib/actor-name.js';
import { TokenBuckets } from '../../lib/token-buckets.js';
import { MAX_LIMITED_KEYS } from '../../provider/rate-limiter.js';
import { AUTHENTICATORS, LOG } from '../injection-tokens.js';
import { createRateLimitError } from '../rate-limit.js';
import type { CallerRequest } from '../request.js';

/** The limit of lookups of an actor: sufficient for a person, too low to try many tokens. */
const LOOKUPS = { perSecond: 1, burst: 30 };

type LookupResult = 'found' | 'unknown' | 'failed' | 'limited';

/**
 * Finds the actor of a token in `GET /explain`. The caller may not be its owner, so each lookup is
 * limited, counted and logged.
 */
@injectable(AUTHENTICATORS, LOG)
export class TokenOwners {
  readonly counts: Record<LookupResult, number> = { found: 0, unknown: 0, failed: 0, limited: 0 };
  readonly #authenticators: readonly CheckedAuthenticator[];
  readonly #log: Log;
  readonly #buckets = new TokenBuckets(LOOKUPS, MAX_LIMITED_KEYS);

  constructor(authenticators: readonly CheckedAuthenticator[], log: Log) {
    this.#authenticators = authenticators;
    this.#log = log;
  }

  /**
   * Counts and logs that the caller requests an explanation for another actor, without its token.
   * @param owner the actor of recorded calls; `null` without authentication
   * @throws HostError 429.
   */
  admit({ actor, requestId }: CallerRequest, owner: string | null): void {
    this.#limit(actor);
    this.counts.found += 1;
    const names = { actor: nameActor(actor), owner };
    this.#log.info({ request_id: requestId, ...names, result: 'found' }, 'recorded call explained');
  }

  /** @throws HostError 429. */
  #limit(actor: Actor): void {
    const waitMs = this.#buckets.take(nameActor(actor));
    if (waitMs === 0) return;
    this.counts.limited += 1;
    throw createRateLimitError('modgate-explain-as', 'too many actors were explained', waitMs);
  }

  /**
   * @param explained the explained request with the token
   * @throws HostError 429, and 503 if the token cannot be verified now.
   */
  async find(
    token: string,
    { actor, requestId }: CallerRequest,
    explained: { readonly method: string; readonly target: string },
  ): Promise<Actor | null> {
    this.#limit(actor);
    const report = (result: LookupResult, owner: Actor | null) => {
      this.counts[result] += 1;
      const names = { actor: nameActor(actor), owner: owner && nameActor(owner) };
      this.#log.info({ request_id: requestId, ...names, result }, 'token explained');
    };
    try {
      const credentials = createBearerCredentials(token, explained);
      const outcome = await authenticateWith(this.#authenticators, credentials, AUTHORIZATION_ONLY);
      const owner = isRejected(outcome) ? null : outcome.actor;
      report(owner === null ? 'unknown' : 'found', owner);
      return owner;
    } catch (error) {
      report('failed', null);
      throw error;
    }
  }
}
