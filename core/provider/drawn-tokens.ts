import { LRUCache } from 'lru-cache';
import type { BucketLevel, BucketLimits } from '../lib/token-buckets.js';
import { MAX_LIMITED_KEYS, type RateLimiter } from './rate-limiter.js';

/** Tokens from the bucket of a key in another process. */
export interface TokenGrant {
  /** 0 if none is left. */
  readonly granted: number;
  /** Whether the grant exceeds the request. */
  readonly isAhead: boolean;
  readonly level: BucketLevel;
}

interface Drawn {
  tokens: number;
  /** No token is available before this time. Milliseconds. */
  emptyUntil: number;
  /** The level of the bucket at the last request. */
  level: BucketLevel;
  /** The number of remaining tokens at which the next draw begins. */
  low: number;
  asking: Promise<void> | null;
  /** The number of requests that wait for the response. */
  waiting: number;
}

/** @param requested the number of requests that wait for a token */
type Draw = (key: string, requested: number) => Promise<TokenGrant>;

/**
 * A limit whose buckets are in another process: this process draws tokens in advance, and requests
 * more when they run out.
 */
export class DrawnTokens implements RateLimiter {
  readonly limits: BucketLimits;
  readonly #draw: Draw;
  readonly #now: () => number;
  readonly #bucket = new LRUCache<string, Drawn>({
    maxSize: MAX_LIMITED_KEYS,
    sizeCalculation: () => 1,
  });

  constructor(limits: BucketLimits, draw: Draw, now: () => number = () => performance.now()) {
    this.limits = limits;
    this.#draw = draw;
    this.#now = now;
  }

  take(key: string): number | Promise<number> {
    const bucket = this.#find(key);
    if (bucket.tokens > 0) {
      bucket.tokens -= 1;
      if (
        bucket.tokens < bucket.low &&
        bucket.asking === null &&
        this.#now() >= bucket.emptyUntil
      ) {
        // Requests without a token receive the error.
        this.#ask(key, bucket).catch(() => {});
      }
      return 0;
    }
    const waitMs = bucket.emptyUntil - this.#now();
    return waitMs > 0 ? waitMs : this.#wait(key, bucket);
  }

  level(key: string): BucketLevel {
    const { tokens, level } = this.#find(key);
    return tokens === 0 ? level : { ...level, remaining: level.remaining + tokens };
  }

  async #wait(key: string, bucket: Drawn): Promise<number> {
    bucket.waiting += 1;
    try {
      await (bucket.asking ?? this.#ask(key, bucket));
    } finally {
      bucket.waiting -= 1;
    }
    return this.take(key);
  }

  #ask(key: string, bucket: Drawn): Promise<void> {
    bucket.asking = this.#draw(key, Math.max(1, bucket.waiting))
      .then(({ granted, isAhead, level }) => {
        bucket.tokens += granted;
        bucket.level = level;
        bucket.low = isAhead ? granted / 2 : 0;
        bucket.emptyUntil = granted > 0 ? 0 : this.#now() + level.resetMs;
      })
      .finally(() => {
        bucket.asking = null;
      });
    return bucket.asking;
  }

  #find(key: string): Drawn {
    let bucket = this.#bucket.get(key);
    if (bucket === undefined) {
      const level = { remaining: this.limits.burst, resetMs: 0 };
      bucket = { tokens: 0, emptyUntil: 0, level, low: 0, asking: null, waiting: 0 };
      this.#bucket.set(key, bucket);
    }
    return bucket;
  }
}
