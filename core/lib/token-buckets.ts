export interface BucketLimits {
  /** What flows in, a second; above 0. */
  readonly perSecond: number;
  /** What a bucket holds at most, and at first; at least 1. */
  readonly burst: number;
}

interface Bucket {
  tokens: number;
  /** Milliseconds. */
  at: number;
}

const MS_PER_SECOND = 1000;

/**
 * Token buckets by key: each take costs one token. Bounded: past `maxKeys` the bucket that was made first
 * makes room, and whoever it was for starts anew with a full one.
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

  get size(): number {
    return this.#buckets.size;
  }

  /** Takes a token: 0, or in how many milliseconds there will be one. */
  take(key: string): number {
    const { perSecond, burst } = this.#limits;
    const now = this.#now();
    const bucket = this.#buckets.get(key) ?? this.#add(key, now);
    const inflow = ((now - bucket.at) / MS_PER_SECOND) * perSecond;
    bucket.tokens = Math.min(burst, bucket.tokens + inflow);
    bucket.at = now;
    if (bucket.tokens >= 1) {
      bucket.tokens -= 1;
      return 0;
    }
    return ((1 - bucket.tokens) / perSecond) * MS_PER_SECOND;
  }

  #add(key: string, now: number): Bucket {
    if (this.#buckets.size >= this.#maxKeys) this.#makeRoom();
    const bucket = { tokens: this.#limits.burst, at: now };
    this.#buckets.set(key, bucket);
    return bucket;
  }

  #makeRoom(): void {
    const oldest = this.#buckets.keys().next().value;
    if (oldest !== undefined) this.#buckets.delete(oldest);
  }
}

/** `null` for a rate of 0, which is no limit; a burst of 0 is what comes in a second. */
export function createBucketLimits(perSecond: number, burst: number): BucketLimits | null {
  if (perSecond === 0) return null;
  return { perSecond, burst: burst === 0 ? Math.max(1, Math.ceil(perSecond)) : burst };
}
