import type { Log } from '../contract/index.js';
import type { Breaker as BreakerSettings } from '../descriptor/descriptor.js';
import { hashText } from '../lib/hash.js';
import type { AttemptVerdict } from './circuit-breaker.js';
import { type BreakerState, type BreakerTicket, CircuitBreaker } from './circuit-breaker.js';
import type { EndpointBase } from './endpoint-base.js';

/** An endpoint in `GET /modules`. */
export interface EndpointStatus {
  readonly endpoint: string;
  /** The breaker's state, or the result of the health checks while the breaker is closed. */
  readonly state: 'up' | 'down' | 'open' | 'half_open';
  readonly inFlight: number;
  readonly calls: number;
  /** Calls that counted as failures for the breaker of the endpoint or of a route. */
  readonly failures: number;
  /** When an open breaker admits a probe. */
  readonly until: Date | null;
  /** Routes whose breaker at this endpoint is not closed. */
  readonly routes: readonly RouteStatus[];
}

interface RouteStatus {
  /** `GET /items/{id}` */
  readonly route: string;
  readonly state: 'open' | 'half_open';
  readonly until: Date | null;
}

interface EndpointOptions {
  /** Shown to operators. */
  readonly id: string;
  readonly weight: number;
  /** Default 0, the first to be chosen. */
  readonly priority?: number;
  /** `null` for a provider without named endpoints. */
  readonly name: string | null;
  /** Default: none, as for a provider whose endpoints name no URL. */
  readonly base?: EndpointBase | null;
  readonly breaker: BreakerSettings;
  readonly log: Log;
}

/** The preference of an endpoint for the next attempt; the strategy chooses among the best ones. */
export const PREFERENCE = {
  /** Excluded by a breaker or by the strategy. */
  out: 0,
  /** This call has failed there before. */
  tried: 1,
  /** Its health checks fail. */
  down: 2,
  up: 3,
} as const;

export type Preference = (typeof PREFERENCE)[keyof typeof PREFERENCE];

/** One attempt of a call at an endpoint. */
export interface Attempt {
  readonly ticket: BreakerTicket;
  readonly routeBreaker: CircuitBreaker | null;
  readonly routeTicket: BreakerTicket;
}

/** One replica of one module: its breakers, health and counts. Never shared between modules. */
export class Endpoint {
  readonly id: string;
  /** These may change while the endpoint remains. */
  weight: number;
  priority: number;
  base: EndpointBase | null;
  readonly name: string | null;
  readonly idHash: number;
  inFlight = 0;
  /** Set by the health checks. */
  isUp = true;
  /** Scratch value of the strategies, computed for each choice. */
  preference: Preference = PREFERENCE.out;
  /** Running weight of smooth round robin. */
  credit = 0;
  readonly #settings: BreakerSettings;
  readonly #log: Log;
  readonly #breaker: CircuitBreaker;
  /** The circuit breakers by route name; the routes of the manifest bound them. */
  readonly #routeBreakers = new Map<string, CircuitBreaker>();
  #calls = 0;
  #failures = 0;

  constructor({ id, weight, priority, name, base, breaker, log }: EndpointOptions) {
    this.id = id;
    this.idHash = hashText(id);
    this.weight = weight;
    this.priority = priority ?? 0;
    this.name = name;
    this.base = base ?? null;
    this.#settings = breaker;
    this.#log = log;
    this.#breaker = this.#createBreaker({ endpoint: id });
  }

  get status(): EndpointStatus {
    const { state, until } = this.#breaker;
    const health = this.isUp ? 'up' : 'down';
    return {
      endpoint: this.id,
      state: state === 'closed' ? health : state,
      inFlight: this.inFlight,
      calls: this.#calls,
      failures: this.#failures,
      until,
      routes: this.#listRoutes(),
    };
  }

  /** @param route `null` for an operation other than a route */
  isAdmitting(route: string | null): boolean {
    if (!this.#breaker.isAdmitting) return false;
    const breaker = route === null ? undefined : this.#routeBreakers.get(route);
    return breaker === undefined || breaker.isAdmitting;
  }

  /** Whether it is up, with its breaker and that of the route closed. */
  isServing(route: string | null): boolean {
    if (!this.isUp || this.#breaker.state !== 'closed') return false;
    const breaker = route === null ? undefined : this.#routeBreakers.get(route);
    return breaker === undefined || breaker.state === 'closed';
  }

  /** The milliseconds until the breakers admit a probe. */
  waitMs(route: string | null): number {
    const breaker = route === null ? undefined : this.#routeBreakers.get(route);
    return Math.max(this.#breaker.waitMs, breaker?.waitMs ?? 0);
  }

  /** The failure that opened its breaker, or that of the route; `null` while both are closed. */
  failure(route: string | null): string | null {
    const breaker = route === null ? undefined : this.#routeBreakers.get(route);
    return this.#breaker.failure ?? breaker?.failure ?? null;
  }

  /** Call only while `isAdmitting`; `end` the attempt once. */
  begin(route: string | null): Attempt {
    this.inFlight += 1;
    this.#calls += 1;
    const routeBreaker = route === null ? null : this.#getRouteBreaker(route);
    return {
      ticket: this.#breaker.admit(),
      routeBreaker,
      routeTicket: routeBreaker?.admit() ?? 0,
    };
  }

  /** Ends an attempt that was not sent. */
  abandon({ ticket, routeBreaker, routeTicket }: Attempt): void {
    this.inFlight -= 1;
    this.#calls -= 1;
    this.#breaker.settle(ticket, 'neutral', null);
    routeBreaker?.settle(routeTicket, 'neutral', null);
  }

  /** @param failure the reason, for operators */
  end(
    { ticket, routeBreaker, routeTicket }: Attempt,
    { endpoint, route }: AttemptVerdict,
    failure: string | null = null,
  ): void {
    this.inFlight -= 1;
    if (endpoint === 'failure' || route === 'failure') this.#failures += 1;
    this.#breaker.settle(ticket, endpoint, failure);
    routeBreaker?.settle(routeTicket, route, failure);
  }

  #getRouteBreaker(route: string): CircuitBreaker {
    let breaker = this.#routeBreakers.get(route);
    if (breaker === undefined) {
      breaker = this.#createBreaker({ endpoint: this.id, route });
      this.#routeBreakers.set(route, breaker);
    }
    return breaker;
  }

  #createBreaker(fields: Readonly<Record<string, string>>): CircuitBreaker {
    const breaker = new CircuitBreaker(this.#settings, (state, openMs) => {
      if (state !== 'open') this.#log.info(fields, CHANGES[state]);
      else {
        const { failure } = breaker;
        this.#log.warn({ ...fields, open_ms: openMs, failure_detail: failure }, CHANGES[state]);
      }
    });
    return breaker;
  }

  #listRoutes(): RouteStatus[] {
    return [...this.#routeBreakers].flatMap(([route, { state, until }]) =>
      state === 'closed' ? [] : [{ route, state, until }],
    );
  }
}

/** The log messages of state changes. */
const CHANGES: Readonly<Record<BreakerState, string>> = {
  closed: 'circuit breaker closed',
  open: 'circuit breaker open',
  half_open: 'circuit breaker half-open',
};
