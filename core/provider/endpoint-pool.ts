import type { Balancing } from '../contract/index.js';
import { type Endpoint, PREFERENCE, type Preference } from './endpoint.js';
import { STRATEGIES, type Strategy } from './load-balancing.js';

/** The endpoints of one module, and the choice among them. */
export class EndpointPool {
  readonly all: readonly Endpoint[];
  readonly #strategy: Strategy;
  /** Most modules have one endpoint. */
  readonly #only: Endpoint | null;

  /** @throws Error for an unknown strategy, which an adapter in JavaScript may return. */
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

  /** Whether any endpoint admits a call of the route. */
  isAdmitting(route: string | null): boolean {
    return this.all.some((endpoint) => endpoint.isAdmitting(route));
  }

  /** Milliseconds until an endpoint admits a probe. */
  waitMs(route: string | null): number {
    return Math.min(...this.all.map((endpoint) => endpoint.waitMs(route)));
  }

  /**
   * The endpoint for the next attempt; `begin` must follow at once. `null` when every breaker is open. An
   * endpoint that the call has tried is chosen again only if there is no other.
   */
  choose(route: string | null, key: string | null, tried: readonly Endpoint[]): Endpoint | null {
    if (this.#only !== null) return this.#only.isAdmitting(route) ? this.#only : null;
    const best = this.#rank(route, tried);
    return best === PREFERENCE.out ? null : this.#strategy(this.all, best, key);
  }

  /** Sets the preference of each endpoint. @returns the best. */
  #rank(route: string | null, tried: readonly Endpoint[]): Preference {
    let best: Preference = PREFERENCE.out;
    for (const endpoint of this.all) {
      endpoint.preference = preferenceOf(endpoint, route, tried);
      if (endpoint.preference > best) best = endpoint.preference;
    }
    return best;
  }
}

function preferenceOf(
  endpoint: Endpoint,
  route: string | null,
  tried: readonly Endpoint[],
): Preference {
  if (!endpoint.isAdmitting(route)) return PREFERENCE.out;
  if (tried.includes(endpoint)) return PREFERENCE.tried;
  return endpoint.isUp ? PREFERENCE.up : PREFERENCE.down;
}
