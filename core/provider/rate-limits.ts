import type { Actor } from '../contract/index.js';
import type { RateLimit } from '../descriptor/descriptor.js';
import { nameActor } from '../lib/actor-name.js';
import { TokenBuckets } from '../lib/token-buckets.js';

/** The limit that a call exceeded, and how long to wait. */
export interface RateRejection {
  readonly limit: 'actor' | 'module';
  readonly waitMs: number;
}

/** About 1 MB; more concurrent actors than a module is likely to have. */
export const MAX_LIMITED_ACTORS = 10_000;

/** The rate limits of a module in this process: over all actors, and for each. */
export class RateLimits {
  readonly rejected = { actor: 0, module: 0 };
  readonly #actors: TokenBuckets | null;
  readonly #module: TokenBuckets | null;

  private constructor(actors: TokenBuckets | null, module: TokenBuckets | null) {
    this.#actors = actors;
    this.#module = module;
  }

  /** `null` where the descriptor limits no rate. */
  static create({ perSecond, burst, actorPerSecond, actorBurst }: RateLimit): RateLimits | null {
    const actors = TokenBuckets.create(actorPerSecond, actorBurst, MAX_LIMITED_ACTORS);
    const module = TokenBuckets.create(perSecond, burst, 1);
    return actors === null && module === null ? null : new RateLimits(actors, module);
  }

  /** `null` when the call may pass. A call over its actor's rate does not use the rate of the module. */
  check(actor: Actor): RateRejection | null {
    if (this.#actors !== null) {
      const waitMs = this.#actors.take(nameActor(actor));
      if (waitMs > 0) return this.#count({ limit: 'actor', waitMs });
    }
    if (this.#module === null) return null;
    const waitMs = this.#module.take('');
    return waitMs > 0 ? this.#count({ limit: 'module', waitMs }) : null;
  }

  #count(rejection: RateRejection): RateRejection {
    this.rejected[rejection.limit] += 1;
    return rejection;
  }
}
