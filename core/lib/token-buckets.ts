import { LRUCache } from 'lru-cache';

export interface BucketLimits {
  /** Tokens added per second; above 0. */
  readonly perSecond: number;
  /** Capacity and initial content of a bucket; at least 1. */
  readonly burst: number;
}

export interface BucketLevel {
  /** Whole tokens. */
  readonly remaining: number;
  /** The time until an empty bucket has a token, or any other is full. Milliseconds. */
  readonly resetMs: number;
}

interface Bucket {
  tokens: number;
  /** Last update, in milliseconds. */
  at: number;
}

const MS_PER_SECOND = 1000;

export function levelOf(tokens: number, { perSecond, burst }: BucketLimits): BucketLevel {
  const remaining = Math.floor(tokens);
  const missing = (remaining === 0 ? 1 : burst) - tokens;
  return { remaining, resetMs: (missing / perSecond) * MS_PER_SECOND };
}

/**
 * Returns `null` for a rate of 0, which means no limit; a burst of 0 means the tokens of one
 * second.
 */
export function createLimits(perSecond: number, burst: number): BucketLimits | null {
  if (perSecond === 0) return null;
  return { perSecond, burst: burst === 0 ? Math.max(1, Math.ceil(perSecond)) : burst };
}

/**
 * Token buckets by key: a bucket refills at `perSecond` and holds at most `burst`. Beyond `maxKeys`
 * the least recently used bucket is removed; its key starts again with a full one.
 */
export class TokenBuckets {
  readonly #limits: BucketLimits;
  readonly #now: () => number;
  readonly #buckets: LRUCache<string, Bucket>;

  constructor(limits: BucketLimits, maxKeys: number, now: () => number = () => performance.now()) {
    this.#limits = limits;
    this.#now = now;
    // With `max`, the cache would allocate the entries of all keys at once: 240 KiB per module.
    this.#buckets = new LRUCache({ maxSize: maxKeys, sizeCalculation: () => 1 });
  }

  get size(): number {
    return this.#buckets.size;
  }

  /** Takes a token. @returns 0, or the milliseconds until one is available */
  take(key: string): number {
    return this.draw(key, 1) === 1 ? 0 : this.level(key).resetMs;
  }

  /** Takes at most `count` tokens. @returns the number of tokens taken */
  draw(key: string, count: number): number {
    const bucket = this.#refill(key);
    const takenCount = Math.min(count, Math.floor(bucket.tokens));
    bucket.tokens -= takenCount;
    return takenCount;
  }

  level(key: string): BucketLevel {
    return levelOf(this.#refill(key).tokens, this.#limits);
  }

  #refill(key: string): Bucket {
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
    return bucket;
  }
}
