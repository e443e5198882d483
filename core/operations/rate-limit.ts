import type { Actor } from '../contract/index.js';
import { HostError } from '../errors.js';
import { nameShare } from '../lib/actor-name.js';
import { TokenBuckets } from '../lib/token-buckets.js';
import {
  MAX_LIMITED_ACTORS,
  type RateLimits,
  type RateRejection,
} from '../provider/rate-limits.js';
import { toRetryAfterSeconds } from '../provider/rejected-call.js';
import type { CallerRequest } from './request.js';

const DETAILS: Readonly<Record<RateRejection['limit'], string>> = {
  client: 'the rate limit of the address is exceeded',
  actor: 'the rate limit of the caller is exceeded',
  module: 'the rate limit of the module is exceeded',
};

/** Limits how often each actor may call this host, over all routes. */
export class ActorRate {
  rejected = 0;
  readonly #buckets: TokenBuckets;

  private constructor(buckets: TokenBuckets) {
    this.#buckets = buckets;
  }

  /** `null` for a rate of 0: no limit. */
  static create(perSecond: number, burst: number): ActorRate | null {
    const buckets = TokenBuckets.create(perSecond, burst, MAX_LIMITED_ACTORS);
    return buckets === null ? null : new ActorRate(buckets);
  }

  /** @throws HostError 429. */
  admit(actor: Actor): void {
    const waitMs = this.#buckets.take(nameShare(actor));
    if (waitMs === 0) return;
    this.rejected += 1;
    throw createRateError({ limit: 'actor', waitMs });
  }
}

/**
 * Runs after authorization, so that callers without the right to call do not use up the rate of others.
 * @throws HostError 429.
 */
export function enforceRateLimit(
  rates: RateLimits,
  { actor, client }: Pick<CallerRequest, 'actor' | 'client'>,
): void {
  const rejection = rates.check(actor, client?.address ?? null);
  if (rejection !== null) throw createRateError(rejection);
}

function createRateError({ limit, waitMs }: RateRejection): HostError {
  return createRateLimitError(limit, DETAILS[limit], waitMs);
}

/** 429, with the time after which the caller may try again. */
export function createRateLimitError(field: string, detail: string, waitMs: number): HostError {
  const seconds = toRetryAfterSeconds(waitMs);
  return new HostError('rate_limited', detail, {
    step: 'rate',
    errors: [{ field, reason: 'rate limit' }],
    nextActions: [`try again in ${seconds} s`],
    headers: { 'retry-after': String(seconds) },
  });
}
