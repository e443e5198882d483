import type { Balancing } from '../contract/index.js';
import { type Endpoint, PREFERENCE, type Preference } from './endpoint.js';
import { STRATEGIES, type Strategy } from './load-balancing.js';

/** The endpoints of one module, and the choice among them. */
export class EndpointPool {
  readonly all: readonly Endpoint[];
  readonly #strategy: Strategy;
  /** There is nothing to choose in most modules. */
  readonly #only: Endpoint | null;

  /** @throws Error for a strategy that there is not: an adapter need not be written in TypeScript. */
  constructor(all: readonly Endpoint[], strategy: Balancing['strategy']) {
    if (!Object.hasOwn(STRATEGIES, strategy)) {
      throw new Error(
        `the adapter's strategy must be one of ${Object.keys(STRATEGIES).join(', ')}`,
      );
    }
    this.all = all;
    this.#strategy = STRATEGIES[strategy];
    this.#only = all.length === 1 ? (all[0] ?? null) : null;
  }

  /** Whether any breaker lets a call pass. */
  get isAdmitting(): boolean {
    return this.all.some(({ breaker }) => breaker.isAdmitting);
  }

  /** How long until a breaker lets a probe through, in milliseconds. */
  get waitMs(): number {
    return Math.min(...this.all.map(({ breaker }) => breaker.waitMs));
  }

  /**
   * The endpoint for the next attempt, `begin` of which is to follow at once; `null` when every breaker
   * is open. One that the call has tried is chosen again only if there is no other.
   */
  choose(key: string | null, tried: readonly Endpoint[]): Endpoint | null {
    if (this.#only !== null) return this.#only.breaker.isAdmitting ? this.#only : null;
    const best = this.#rank(tried);
    return best === PREFERENCE.out ? null : this.#strategy(this.all, best, key);
  }

  /** Notes the standing of each; answers the best. */
  #rank(tried: readonly Endpoint[]): Preference {
    let best: Preference = PREFERENCE.out;
    for (const endpoint of this.all) {
      endpoint.preference = preferenceOf(endpoint, tried);
      if (endpoint.preference > best) best = endpoint.preference;
    }
    return best;
  }
}

function preferenceOf(endpoint: Endpoint, tried: readonly Endpoint[]): Preference {
  if (!endpoint.breaker.isAdmitting) return PREFERENCE.out;
  if (tried.includes(endpoint)) return PREFERENCE.tried;
  return endpoint.isUp ? PREFERENCE.up : PREFERENCE.down;
}
