import { createUnavailable } from '../errors.js';
import type { BucketLimits } from '../lib/token-buckets.js';
import type { PrimaryLink, PrimaryPart, SharedService } from '../processes.js';
import { DrawnTokens, type TokenGrant } from './drawn-tokens.js';
import { LimitBuckets, LocalRates, type RateLimiter, type RateLimiters } from './rate-limiter.js';

/** The fraction of a burst that the workers may hold unused. */
const SHARE_OF_BURST = 0.1;

/** Requests tokens of a rate limit. */
export interface RateRequest {
  readonly limitId: string;
  readonly limits: BucketLimits;
  readonly key: string;
  /** The number of requests that wait for a token. */
  readonly wanted: number;
}

/** Rate limits that hold over all processes. */
export const SHARED_RATES: SharedService<RateLimiters> = {
  name: 'rates',
  createLocal: () => new LocalRates(),
  createClient: (link) => new WorkerRates(link),
  createPrimary: ({ workers }) => new PrimaryRates(workers),
};

/** The rate limits of all workers, in the primary. Workers draw tokens in advance. */
export class PrimaryRates implements PrimaryPart {
  readonly #workers: number;
  readonly #buckets = new LimitBuckets();

  constructor(workers: number) {
    this.#workers = workers;
  }

  answer({ limitId, limits, key, wanted }: RateRequest): TokenGrant {
    const buckets = this.#buckets.find(limitId, limits);
    const share = Math.floor((limits.burst * SHARE_OF_BURST) / this.#workers);
    const granted = buckets.draw(key, Math.max(wanted, share));
    return { granted, isAhead: share > wanted, level: buckets.level(key) };
  }
}

/** Creates the rate limits of one worker. */
export class WorkerRates implements RateLimiters {
  readonly #link: Pick<PrimaryLink, 'ask'>;

  constructor(link: Pick<PrimaryLink, 'ask'>) {
    this.#link = link;
  }

  create(limitId: string, limits: BucketLimits): RateLimiter {
    return new DrawnTokens(limits, (key, wanted) => this.#ask({ limitId, limits, key, wanted }));
  }

  /** The primary keeps a request waiting only while it is busy. */
  #ask(request: RateRequest): Promise<TokenGrant> {
    return this.#link.ask<TokenGrant>(request, () =>
      createUnavailable('the rate cannot be checked now', { step: 'rate' }),
    );
  }
}
