import type { Actor } from '../contract/index.js';
import type { RateLimit } from '../descriptor/descriptor.js';
import { nameActor } from '../lib/actor-name.js';
import { type BucketLimits, createBucketLimits, TokenBuckets } from '../lib/token-buckets.js';

/** Whose limit a call has met, and when it may come again. */
export interface RateRejection {
  readonly limit: 'actor' | 'module';
  readonly waitMs: number;
}

/** About 1 MB; more actors at a time than a module is likely to have. */
export const MAX_LIMITED_ACTORS = 10_000;

/** How often a module may be called, by all and by each actor, in this process. */
export class RateLimits {
  readonly refused = { actor: 0, module: 0 };
  readonly #actors: TokenBuckets | null;
  readonly #module: TokenBuckets | null;

  constructor({ perSecond, burst, actorPerSecond, actorBurst }: RateLimit) {
    this.#actors = createBuckets(
      createBucketLimits(actorPerSecond, actorBurst),
      MAX_LIMITED_ACTORS,
    );
    this.#module = createBuckets(createBucketLimits(perSecond, burst), 1);
  }

  /** `null` when the call may pass. One that its actor may not make costs the module nothing. */
  check(actor: Actor): RateRejection | null {
    if (this.#actors !== null) {
      const waitMs = this.#actors.take(nameActor(actor));
      if (waitMs > 0) return this.#count({ limit: 'actor', waitMs });
    }
    if (this.#module === null) return null;
    const waitMs = this.#module.take('');
    return waitMs > 0 ? this.#count({ limit: 'module', waitMs }) : null;
  }

  #count(refusal: RateRejection): RateRejection {
    this.refused[refusal.limit] += 1;
    return refusal;
  }
}

function createBuckets(limits: BucketLimits | null, maxKeys: number): TokenBuckets | null {
  return limits === null ? null : new TokenBuckets(limits, maxKeys);
}
