import { LRUCache } from 'lru-cache';
import { createUnavailable } from '../errors.js';
import type { BucketLevel, BucketLimits } from '../lib/token-buckets.js';
import {
  LimitBuckets,
  MAX_LIMITED_KEYS,
  type RateLimiter,
  type RateLimiters,
} from '../provider/rate-limiter.js';
import type { RateGrant, RateRequest } from './messages.js';
import type { PrimaryChannel } from './primary-channel.js';

/** What the workers together may hold of a burst without using it. */
const SHARE_OF_BURST = 0.1;
/** The primary keeps a request waiting only while it is busy. Milliseconds. */
const GRANT_TIMEOUT_MS = 10_000;

/** The rate limits of all workers, in the primary. Workers draw tokens ahead, a share each. */
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

/** Makes the rate limits of one worker. */
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

/** The tokens of a key that this worker has drawn. */
interface Drawn {
  tokens: number;
  /** No token is left before. Milliseconds. */
  emptyUntil: number;
  /** In the primary, when it answered last. */
  level: BucketLevel;
  /** How many tokens lead to the next draw, while some are left. */
  low: number;
  asking: Promise<void> | null;
  /** Requests that wait for the answer. */
  waiting: number;
}

type Draw = (key: string, wanted: number) => Promise<RateGrant>;

/** A limit whose buckets are in the primary. */
export class DrawnTokens implements RateLimiter {
  readonly limits: BucketLimits;
  readonly #draw: Draw;
  readonly #now: () => number;
  readonly #drawn = new LRUCache<string, Drawn>({
    maxSize: MAX_LIMITED_KEYS,
    sizeCalculation: () => 1,
  });

  constructor(limits: BucketLimits, draw: Draw, now: () => number = () => performance.now()) {
    this.limits = limits;
    this.#draw = draw;
    this.#now = now;
  }

  take(key: string): number | Promise<number> {
    const drawn = this.#find(key);
    if (drawn.tokens > 0) {
      drawn.tokens -= 1;
      if (drawn.tokens < drawn.low && drawn.asking === null && this.#now() >= drawn.emptyUntil) {
        // The requests that find no token see the error.
        this.#ask(key, drawn).catch(() => {});
      }
      return 0;
    }
    const waitMs = drawn.emptyUntil - this.#now();
    return waitMs > 0 ? waitMs : this.#wait(key, drawn);
  }

  level(key: string): BucketLevel {
    const { tokens, level } = this.#find(key);
    return tokens === 0 ? level : { ...level, remaining: level.remaining + tokens };
  }

  async #wait(key: string, drawn: Drawn): Promise<number> {
    drawn.waiting += 1;
    try {
      await (drawn.asking ?? this.#ask(key, drawn));
    } finally {
      drawn.waiting -= 1;
    }
    return this.take(key);
  }

  #ask(key: string, drawn: Drawn): Promise<void> {
    drawn.asking = this.#draw(key, Math.max(1, drawn.waiting))
      .then(({ granted, isAhead, level }) => {
        drawn.tokens += granted;
        drawn.level = level;
        drawn.low = isAhead ? granted / 2 : 0;
        drawn.emptyUntil = granted > 0 ? 0 : this.#now() + level.resetMs;
      })
      .finally(() => {
        drawn.asking = null;
      });
    return drawn.asking;
  }

  #find(key: string): Drawn {
    let drawn = this.#drawn.get(key);
    if (drawn === undefined) {
      const level = { remaining: this.limits.burst, resetMs: 0 };
      drawn = { tokens: 0, emptyUntil: 0, level, low: 0, asking: null, waiting: 0 };
      this.#drawn.set(key, drawn);
    }
    return drawn;
  }
}
