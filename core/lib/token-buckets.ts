import { LRUCache } from 'lru-cache';

interface BucketLimits {
  /** Tokens added per second; above 0. */
  readonly perSecond: number;
  /** Capacity and initial content of a bucket; at least 1. */
  readonly burst: number;
}

interface Bucket {
  tokens: number;
  /** Last update, in milliseconds. */
  at: number;
}

const MS_PER_SECOND = 1000;

/**
 * Token buckets by key: a bucket refills at `perSecond` and holds at most `burst`. Beyond `maxKeys` the least
 * recently used bucket is removed; its key starts again with a full one.
 */
export class TokenBuckets {
  readonly #limits: BucketLimits;
  readonly #now: () => number;
  readonly #buckets: LRUCache<string, Bucket>;

  constructor(limits: BucketLimits, maxKeys: number, now: () => number = () => performance.now()) {
    this.#limits = limits;
    this.#now = now;
    // With `max` instead, the cache allocates the places of all keys at once: 240 KiB a module.
    this.#buckets = new LRUCache({ maxSize: maxKeys, sizeCalculation: () => 1 });
  }

  /** `null` for a rate of 0, which means no limit; a burst of 0 means the tokens of one second. */
  static create(
    perSecond: number,
    burst: number,
    maxKeys: number,
    now?: () => number,
  ): TokenBuckets | null {
    if (perSecond === 0) return null;
    const limits = { perSecond, burst: burst === 0 ? Math.max(1, Math.ceil(perSecond)) : burst };
    return new TokenBuckets(limits, maxKeys, now);
  }

  get size(): number {
    return this.#buckets.size;
  }

  /** Takes a token. @returns 0, or the milliseconds until there is one */
  take(key: string): number {
    const { perSecond, burst } = this.#limits;
    const now = this.#now();
    let bucket = this.#buckets.get(key);
    if (bucket === undefined) {
      bucket = { tokens: burst, at: now };
      this.#buckets.set(key, bucket);
    }
    const refill = ((now - bucket.at) / MS_PER_SECOND) * perSecond;
    bucket.tokens = Math.min(burst, bucket.tokens + refill);
    bucket.at = now;
    if (bucket.tokens >= 1) {
      bucket.tokens -= 1;
      return 0;
    }
    return ((1 - bucket.tokens) / perSecond) * MS_PER_SECOND;
  }
}
