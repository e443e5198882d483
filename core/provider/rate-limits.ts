import type { Actor } from '../contract/index.js';
import type { RateLimit } from '../descriptor/descriptor.js';
import { nameShare } from '../lib/actor-name.js';
import { nameNetwork } from '../lib/client-network.js';
import { TokenBuckets } from '../lib/token-buckets.js';

/** The limit that a call exceeded, and how long to wait. */
export interface RateRejection {
  readonly limit: 'client' | 'actor' | 'module';
  readonly waitMs: number;
}

/** About 1 MB; more concurrent actors than a module is likely to have. */
export const MAX_LIMITED_ACTORS = 10_000;

/** The rate limits of a module in this process: over all actors, for each, and for each address. */
export class RateLimits {
  readonly rejected = { client: 0, actor: 0, module: 0 };
  readonly #clients: TokenBuckets | null;
  readonly #actors: TokenBuckets | null;
  readonly #module: TokenBuckets | null;

  private constructor(
    clients: TokenBuckets | null,
    actors: TokenBuckets | null,
    module: TokenBuckets | null,
  ) {
    this.#clients = clients;
    this.#actors = actors;
    this.#module = module;
  }

  /** `null` where the descriptor limits no rate. */
  static create({
    per_second,
    burst,
    actor_per_second,
    actor_burst,
    client_per_second,
    client_burst,
  }: RateLimit): RateLimits | null {
    const actors = TokenBuckets.create(actor_per_second, actor_burst, MAX_LIMITED_ACTORS);
    const clients = TokenBuckets.create(client_per_second, client_burst, MAX_LIMITED_ACTORS);
    const module = TokenBuckets.create(per_second, burst, 1);
    const isUnlimited = [clients, actors, module].every((buckets) => buckets === null);
    return isUnlimited ? null : new RateLimits(clients, actors, module);
  }

  /**
   * `null` when the call may pass. A call over the rate of its address or actor does not use that of the module.
   * @param address `null` where it is not known
   */
  check(actor: Actor, address: string | null): RateRejection | null {
    if (this.#clients !== null && address !== null) {
      const waitMs = this.#clients.take(nameNetwork(address));
      if (waitMs > 0) return this.#count({ limit: 'client', waitMs });
    }
    if (this.#actors !== null) {
      const waitMs = this.#actors.take(nameShare(actor));
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
