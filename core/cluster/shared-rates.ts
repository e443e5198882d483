import { createUnavailable } from '../errors.js';
import type { BucketLimits } from '../lib/token-buckets.js';
import { DrawnTokens } from '../provider/drawn-tokens.js';
import { LimitBuckets, type RateLimiter, type RateLimiters } from '../provider/rate-limiter.js';
import type { RateGrant, RateRequest } from './messages.js';
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
  readonly #waiting = new Map<number, (grant: RateGrant) => void>();
  #lastId = 0;

  constructor(channel: PrimaryChannel) {
    this.#channel = channel;
    channel.on('rate', ({ grant }) => {
      this.#waiting.get(grant.id)?.(grant);
      this.#waiting.delete(grant.id);
    });
  }

  create(limitId: string, limits: BucketLimits): RateLimiter {
    return new DrawnTokens(limits, (key, wanted) => this.#ask({ limitId, limits, key, wanted }));
  }

  #ask(request: Omit<RateRequest, 'id'>): Promise<RateGrant> {
    this.#lastId += 1;
    const id = this.#lastId;
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#waiting.delete(id);
        reject(createUnavailable('the rate cannot be checked now', { step: 'rate' }));
      }, GRANT_TIMEOUT_MS);
      this.#waiting.set(id, (grant) => {
        clearTimeout(timer);
        resolve(grant);
      });
      this.#channel.send({ type: 'rate', request: { ...request, id } });
    });
  }
}
