import { LRUCache } from 'lru-cache';
import { type BucketLevel, type BucketLimits, TokenBuckets } from '../lib/token-buckets.js';

/** About 1 MB for each limit; more concurrent actors than a module is likely to have. */
export const MAX_LIMITED_KEYS = 10_000;
/** Three limits of each of 10,000 modules. */
const MAX_LIMITS = { maxSize: 30_000, sizeCalculation: () => 1 };

/** One limit, with a bucket for each key. */
export interface RateLimiter {
  readonly limits: BucketLimits;
  /**
   * Takes a token. Returns a promise if another process must be asked.
   * @returns 0, or the milliseconds until one may be available
   * @throws HostError 503 when that process does not respond.
   */
  take(key: string): number | Promise<number>;
  /** The remaining tokens, as far as this process knows. */
  level(key: string): BucketLevel;
}

/** The behavior of a limit over all hosts while no process counts for all of them. */
export type OnLoss = 'share' | 'open' | 'closed';

/** Creates the limits of the host, which hold over all of its processes. */
export interface RateLimiters {
  /**
   * @param id equal in every process; limits of one id share their buckets, also over a reload
   * @param onLoss for a limit over all hosts; default: over the processes of this host
   */
  create(id: string, limits: BucketLimits, onLoss?: OnLoss | null): RateLimiter;
}

/** The buckets of all limits. A changed limit begins with full buckets. */
export class LimitBuckets {
  readonly #buckets = new LRUCache<string, TokenBuckets>(MAX_LIMITS);

  find(id: string, { perSecond, burst }: BucketLimits): TokenBuckets {
    const name = `${id} ${perSecond} ${burst}`;
    let buckets = this.#buckets.get(name);
    if (buckets === undefined) {
      buckets = new TokenBuckets({ perSecond, burst }, MAX_LIMITED_KEYS);
      this.#buckets.set(name, buckets);
    }
    return buckets;
  }
}

/** The limits of a host with one process. */
export class LocalRates implements RateLimiters {
  readonly #buckets = new LimitBuckets();

  create(id: string, limits: BucketLimits): RateLimiter {
    const buckets = this.#buckets.find(id, limits);
    return {
      limits,
      take: (key) => buckets.take(key),
      level: (key) => buckets.level(key),
    };
  }
}
