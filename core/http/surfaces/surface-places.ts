import { createUnavailable } from '../../errors.js';

/** `head`: requests whose actor the surface determines. */
export type Pool = 'head' | 'anonymous' | 'actor';

export interface PlaceLimits {
  /** The maximum number of requests without a response, with an actor and without one. */
  readonly calls: number;
  /** The same maximum for one network, without an actor. */
  readonly callsOfNetwork: number;
}

/** Limits the concurrent requests of a surface. */
export class SurfacePlaces {
  readonly #limits: PlaceLimits;
  readonly #calls: Record<Pool, number> = { head: 0, anonymous: 0, actor: 0 };
  /** The calls in the pool `anonymous`. */
  readonly #callsByNetwork = new Map<string, number>();

  constructor(limits: PlaceLimits) {
    this.#limits = limits;
  }

  /**
   * Takes a place in a pool: clients without an actor cannot use the places of others.
   * @returns a function that releases the place
   * @throws HostError 503.
   */
  take(pool: Pool, network: string): () => void {
    const { calls, callsOfNetwork } = this.#limits;
    const isShared = pool === 'anonymous';
    const ofNetwork = isShared ? (this.#callsByNetwork.get(network) ?? 0) : 0;
    if (this.#calls[pool] >= calls || ofNetwork >= callsOfNetwork) {
      throw createUnavailable('the surface has too many requests');
    }
    this.#calls[pool] += 1;
    if (isShared) this.#callsByNetwork.set(network, ofNetwork + 1);
    return () => {
      this.#calls[pool] -= 1;
      const remaining = (this.#callsByNetwork.get(network) ?? 0) - 1;
      if (isShared && remaining > 0) this.#callsByNetwork.set(network, remaining);
      else if (isShared) this.#callsByNetwork.delete(network);
    };
  }
}
