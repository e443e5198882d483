import type { Actor } from '../contract/index.js';
import type { RateLimit } from '../descriptor/descriptor.js';
import { nameShare } from '../lib/actor-name.js';
import { nameNetwork } from '../lib/client-network.js';
import { type BucketLevel, type BucketLimits, createLimits } from '../lib/token-buckets.js';
import type { RateLimiter, RateLimiters } from './rate-limiter.js';

/** The state of a limit for clients. */
export interface RateStatus extends BucketLevel {
  /** `actor` is the limit of the host. */
  readonly name: 'actor' | 'client' | 'module-actor' | 'module';
  readonly limits: BucketLimits;
}

/** The limit that a call exceeded, and the time to wait. */
export interface RateRejection {
  readonly limit: 'client' | 'actor' | 'module';
  readonly waitMs: number;
  readonly status: RateStatus;
}

interface Limit {
  readonly limit: RateRejection['limit'];
  readonly name: RateStatus['name'];
  readonly limiter: RateLimiter;
  /** Returns `null` for a call that the limit does not count. */
  keyOf(actor: Actor, address: string | null): string | null;
}

/** The rate limits of a module: for each address, for each actor, and over all of them. */
export class RateLimits {
  readonly rejected = { client: 0, actor: 0, module: 0 };
  /** Whether every response shows the remaining rate. */
  readonly areShown: boolean;
  /** The limits, in the order in which they are checked. */
  readonly #limits: readonly Limit[];

  private constructor(limits: readonly Limit[], areShown: boolean) {
    this.#limits = limits;
    this.areShown = areShown;
  }

  /** Returns `null` if the descriptor limits no rate. */
  static create(module: string, rate: RateLimit, limiters: RateLimiters): RateLimits | null {
    const all: readonly (Omit<Limit, 'limiter'> & { of: BucketLimits | null })[] = [
      {
        limit: 'client',
        name: 'client',
        of: createLimits(rate.client_per_second, rate.client_burst),
        keyOf: (_actor, address) => address && nameNetwork(address),
      },
      {
        limit: 'actor',
        name: 'module-actor',
        of: createLimits(rate.actor_per_second, rate.actor_burst),
        keyOf: nameShare,
      },
      {
        limit: 'module',
        name: 'module',
        of: createLimits(rate.per_second, rate.burst),
        keyOf: () => '',
      },
    ];
    const onLoss = rate.shared ? rate.on_loss : null;
    const limits = all.flatMap(({ of, ...limit }): Limit[] =>
      of === null
        ? []
        : [{ ...limit, limiter: limiters.create(`${limit.name} ${module}`, of, onLoss) }],
    );
    return limits.length === 0 ? null : new RateLimits(limits, rate.headers);
  }

  /**
   * Returns `null` when the call may proceed. A call over the rate of its address or actor does not
   * use that of the module.
   * @param address `null` if it is unknown
   * @throws HostError 503 when the counting process does not respond.
   */
  check(
    actor: Actor,
    address: string | null,
    from: number = 0,
  ): RateRejection | null | Promise<RateRejection | null> {
    for (let index = from; index < this.#limits.length; index += 1) {
      const limit = this.#limits[index] as Limit;
      const key = limit.keyOf(actor, address);
      if (key === null) continue;
      const result = limit.limiter.take(key);
      if (result instanceof Promise) {
        return result.then((waitMs) =>
          waitMs > 0 ? this.#reject(limit, key, waitMs) : this.check(actor, address, index + 1),
        );
      }
      if (result > 0) return this.#reject(limit, key, result);
    }
    return null;
  }

  /** The remaining rate of each limit for the next call. */
  list(actor: Actor, address: string | null): readonly RateStatus[] {
    return this.#limits.flatMap((limit) => {
      const key = limit.keyOf(actor, address);
      return key === null ? [] : [describe(limit, key)];
    });
  }

  #reject(limit: Limit, key: string, waitMs: number): RateRejection {
    this.rejected[limit.limit] += 1;
    return { limit: limit.limit, waitMs, status: describe(limit, key) };
  }
}

function describe({ name, limiter }: Limit, key: string): RateStatus {
  return { name, limits: limiter.limits, ...limiter.level(key) };
}
