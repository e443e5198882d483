import type { Log } from '../contract/index.js';
import type { Breaker as BreakerSettings } from '../descriptor/descriptor.js';
import { LazyMap } from '../lib/lazy-map.js';
import { type BreakerState, CircuitBreaker } from './circuit-breaker.js';

interface RouteStatus {
  /** `GET /items/{id}` */
  readonly route: string;
  readonly state: 'open' | 'half_open';
  readonly until: Date | null;
}

/** The circuit breaker of an endpoint, and those of the routes at it. */
export class EndpointBreakers {
  readonly own: CircuitBreaker;
  readonly #id: string;
  readonly #settings: BreakerSettings;
  readonly #log: Log;
  /** By route name; the routes of the manifest bound them. */
  readonly #byRoute = new LazyMap<string, CircuitBreaker>();

  /** @param earlier of the same endpoint, called in another way */
  constructor(id: string, settings: BreakerSettings, log: Log, earlier: EndpointBreakers | null) {
    this.#id = id;
    this.#settings = settings;
    this.#log = log;
    this.own = this.#create({ endpoint: id }, earlier?.own);
    if (earlier === null) return;
    for (const [route, breaker] of earlier.#byRoute) this.#open(route, breaker);
  }

  /** `undefined` before the first call of the route. */
  find(route: string | null): CircuitBreaker | undefined {
    return route === null ? undefined : this.#byRoute.get(route);
  }

  get(route: string): CircuitBreaker {
    return this.#byRoute.get(route) ?? this.#open(route);
  }

  /** Removes those of other routes. */
  keepOnly(routes: ReadonlySet<string>): void {
    for (const route of this.#byRoute.keys()) if (!routes.has(route)) this.#byRoute.delete(route);
  }

  /** The routes whose breaker is not closed. */
  listRoutes(): RouteStatus[] {
    return [...this.#byRoute].flatMap(([route, { state, until }]) =>
      state === 'closed' ? [] : [{ route, state, until }],
    );
  }

  #open(route: string, earlier?: CircuitBreaker): CircuitBreaker {
    const breaker = this.#create({ endpoint: this.#id, route }, earlier);
    this.#byRoute.set(route, breaker);
    return breaker;
  }

  #create(fields: Readonly<Record<string, string>>, earlier?: CircuitBreaker): CircuitBreaker {
    const breaker = new CircuitBreaker(this.#settings, (state, openMs) => {
      if (state !== 'open') this.#log.info(fields, CHANGES[state]);
      else {
        const { failure } = breaker;
        this.#log.warn({ ...fields, open_ms: openMs, failure_detail: failure }, CHANGES[state]);
      }
    });
    if (earlier !== undefined) breaker.inherit(earlier);
    return breaker;
  }
}

const CHANGES: Readonly<Record<BreakerState, string>> = {
  closed: 'circuit breaker closed',
  open: 'circuit breaker open',
  half_open: 'circuit breaker half-open',
};
