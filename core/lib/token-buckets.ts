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
 * Token buckets by key: a bucket refills at `perSecond` and holds at most `burst`. Beyond `maxKeys` the oldest
 * bucket is removed; its key starts again with a full one.
 */
export class TokenBuckets {
  readonly #limits: BucketLimits;
  readonly #maxKeys: number;
  readonly #now: () => number;
  readonly #buckets = new Map<string, Bucket>();

  constructor(limits: BucketLimits, maxKeys: number, now: () => number = () => performance.now()) {
    this.#limits = limits;
    this.#maxKeys = maxKeys;
    this.#now = now;
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
    const bucket = this.#buckets.get(key) ?? this.#add(key, now);
    const refill = ((now - bucket.at) / MS_PER_SECOND) * perSecond;
    bucket.tokens = Math.min(burst, bucket.tokens + refill);
    bucket.at = now;
    if (bucket.tokens >= 1) {
      bucket.tokens -= 1;
      return 0;
    }
    return ((1 - bucket.tokens) / perSecond) * MS_PER_SECOND;
  }

  #add(key: string, now: number): Bucket {
    if (this.#buckets.size >= this.#maxKeys) this.#removeOldest();
    const bucket = { tokens: this.#limits.burst, at: now };
    this.#buckets.set(key, bucket);
    return bucket;
  }

  #removeOldest(): void {
    const oldest = this.#buckets.keys().next().value;
    if (oldest !== undefined) this.#buckets.delete(oldest);
  }
}
