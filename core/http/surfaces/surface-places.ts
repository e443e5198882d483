import { createUnavailable } from '../../errors.js';

/** `head`: requests whose actor the surface looks for. */
export type Pool = 'head' | 'anonymous' | 'actor';

export interface PlaceLimits {
  /** Requests without a response at once, of those with an actor and of those without one. */
  readonly calls: number;
  /** The same of one network, without an actor. */
  readonly callsOfNetwork: number;
}

/** Bounds the requests that a surface handles at once. */
export class SurfacePlaces {
  readonly #limits: PlaceLimits;
  readonly #calls: Record<Pool, number> = { head: 0, anonymous: 0, actor: 0 };
  /** The calls of the pool `anonymous`. */
  readonly #callsByNetwork = new Map<string, number>();

  constructor(limits: PlaceLimits) {
    this.#limits = limits;
  }

  /**
   * Takes a place in a pool: clients without an actor take none of those of the others.
   * @returns gives it back.
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
      const left = (this.#callsByNetwork.get(network) ?? 0) - 1;
      if (isShared && left > 0) this.#callsByNetwork.set(network, left);
      else if (isShared) this.#callsByNetwork.delete(network);
    };
  }
}
