import type { Actor } from '../contract/index.js';
import { HostError } from '../errors.js';
import { nameActor } from '../lib/actor-name.js';
import { createBucketLimits, TokenBuckets } from '../lib/token-buckets.js';
import type { LiveModule } from '../modules/live-module.js';
import { MAX_LIMITED_ACTORS, type RateRejection } from '../provider/rate-limits.js';

const MS_PER_SECOND = 1000;

const DETAILS: Readonly<Record<RateRejection['limit'], string>> = {
  actor: 'the caller calls more often than it may',
  module: 'the module is called more often than it may be',
};

/** How often each actor may call this host, whatever it calls. */
export class ActorRate {
  refused = 0;
  readonly #buckets: TokenBuckets;

  private constructor(buckets: TokenBuckets) {
    this.#buckets = buckets;
  }

  /** `null` for a rate of 0, which is no limit. */
  static create(perSecond: number, burst: number): ActorRate | null {
    const limits = createBucketLimits(perSecond, burst);
    return limits === null ? null : new ActorRate(new TokenBuckets(limits, MAX_LIMITED_ACTORS));
  }

  /** @throws HostError 429. */
  admit(actor: Actor): void {
    const waitMs = this.#buckets.take(nameActor(actor));
    if (waitMs === 0) return;
    this.refused += 1;
    throw createRateError({ limit: 'actor', waitMs });
  }
}

/**
 * Only a caller that may make the call is counted, so that nobody uses up what is another's.
 * @throws HostError 429.
 */
export function enforceRateLimit({ client }: LiveModule, actor: Actor): void {
  const refusal = client.rates.check(actor);
  if (refusal !== null) throw createRateError(refusal);
}

function createRateError({ limit, waitMs }: RateRejection): HostError {
  const seconds = Math.max(1, Math.ceil(waitMs / MS_PER_SECOND));
  return new HostError('rate_limited', DETAILS[limit], {
    errors: [{ field: limit, reason: 'rate limit' }],
    nextActions: [`try again in ${seconds} s`],
    headers: { 'retry-after': String(seconds) },
  });
}
