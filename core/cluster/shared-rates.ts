import { createUnavailable } from '../errors.js';
import type { BucketLimits } from '../lib/token-buckets.js';
import { DrawnTokens } from '../provider/drawn-tokens.js';
import { LimitBuckets, type RateLimiter, type RateLimiters } from '../provider/rate-limiter.js';
import type { RateGrant, RateRequest } from './messages.js';
import { PendingAnswers } from './pending-answers.js';
import type { PrimaryChannel } from './primary-channel.js';

/** The fraction of a burst that the workers may hold unused. */
const SHARE_OF_BURST = 0.1;
/** The primary keeps a request waiting only while it is busy. Milliseconds. */
const GRANT_TIMEOUT_MS = 10_000;

/** The rate limits of all workers, in the primary. Workers draw tokens in advance. */
export class PrimaryRates {
  readonly #workers: number;
  readonly #buckets = new LimitBuckets();

  constructor(workers: number) {
    this.#workers = workers;
  }

  draw({ id, limitId, limits, key, wanted }: RateRequest): RateGrant {
    const buckets = this.#buckets.find(limitId, limits);
    const share = Math.floor((limits.burst * SHARE_OF_BURST) / this.#workers);
    const granted = buckets.draw(key, Math.max(wanted, share));
    return { id, granted, isAhead: share > wanted, level: buckets.level(key) };
  }
}

/** Creates the rate limits of one worker. */
export class WorkerRates implements RateLimiters {
  readonly #channel: PrimaryChannel;
  readonly #grants = new PendingAnswers<RateGrant>(GRANT_TIMEOUT_MS, () =>
    createUnavailable('the rate cannot be checked now', { step: 'rate' }),
  );

  constructor(channel: PrimaryChannel) {
    this.#channel = channel;
    channel.on('rate', ({ grant }) => this.#grants.settle(grant.id, grant));
  }

  create(limitId: string, limits: BucketLimits): RateLimiter {
    return new DrawnTokens(limits, (key, wanted) => this.#ask({ limitId, limits, key, wanted }));
  }

  #ask(request: Omit<RateRequest, 'id'>): Promise<RateGrant> {
    return this.#grants.ask((id) =>
      this.#channel.send({ type: 'rate', request: { ...request, id } }),
    );
  }
}
