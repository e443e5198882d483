import type { HealthChecks, Log } from '../contract/index.js';
import type { Breaker as BreakerSettings } from '../descriptor/descriptor.js';
import { hashText } from '../lib/hash.js';
import type { AttemptVerdict, BreakerTicket, CircuitBreaker } from './circuit-breaker.js';
import type { EndpointBase } from './endpoint-base.js';
import { EndpointBreakers } from './endpoint-breakers.js';
import { KnownModule, type KnownState } from './known-module.js';

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
  readonly routes: ReturnType<EndpointBreakers['listRoutes']>;
}

export interface EndpointOptions {
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
  /** Default: no health checks. */
  readonly health?: HealthChecks | null;
  readonly log: Log;
  /** What earlier versions have learned. Default: nothing. */
  readonly known?: KnownModule;
  /** How the endpoint is called. Default: as by no other version. */
  readonly connection?: string;
}

/** What the health checks have found. */
export interface EndpointHealth {
  isUp: boolean;
  /** The number of consecutive checks that contradict it. */
  contradictions: number;
}

/** What calls have done so far. */
interface EndpointCounts {
  inFlight: number;
  calls: number;
  failures: number;
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

/** What decides whether a breaker admits a call. */
export interface RoutedCall {
  /** `null` for an operation other than a route. */
  readonly route: string | null;
  /** Whether the call may be repeated. Default false. */
  readonly isRepeatable?: boolean;
}

export interface Attempt {
  readonly ticket: BreakerTicket;
  readonly routeBreaker: CircuitBreaker | null;
  readonly routeTicket: BreakerTicket;
}

/**
 * One replica of one version of a module. Its breakers, health and counts are those of all versions
 * that call it in the same way, and never shared between modules.
 */
export class Endpoint {
  readonly id: string;
  /** These may change while the endpoint remains. */
  weight: number;
  priority: number;
  base: EndpointBase | null;
  readonly name: string | null;
  readonly idHash: number;
  /** Scratch value of the strategies, computed for each choice. */
  preference: Preference = PREFERENCE.out;
  /** Running weight of smooth round robin. */
  credit = 0;
  readonly #breakers: KnownState<EndpointBreakers>;
  readonly #health: KnownState<EndpointHealth>;
  readonly #counts: KnownState<EndpointCounts>;

  constructor({ id, weight, priority, name, base, ...options }: EndpointOptions) {
    const { breaker, health = null, log, known = new KnownModule(), connection = '' } = options;
    this.id = id;
    this.idHash = hashText(id);
    this.weight = weight;
    this.priority = priority ?? 0;
    this.name = name;
    this.base = base ?? null;
    // Without a name, it is the same only while it is called in the same way.
    const identity = name ?? `${id} ${connection}`;
    this.#breakers = known.use<EndpointBreakers>(
      ['breakers', identity, breaker],
      connection,
      (earlier) => new EndpointBreakers(id, breaker, log, earlier),
    );
    this.#health = known.use<EndpointHealth>(
      ['health', identity, health],
      connection,
      (earlier) => ({ isUp: true, contradictions: 0, ...earlier }),
    );
    this.#counts = known.use<EndpointCounts>(['counts', id], '', () => {
      return { inFlight: 0, calls: 0, failures: 0 };
    });
  }

  /** Call once, when its version no longer uses it. */
  close(): void {
    for (const known of [this.#breakers, this.#health, this.#counts]) known.release();
  }

  get isUp(): boolean {
    return this.health.isUp;
  }

  get inFlight(): number {
    return this.counts.inFlight;
  }

  get health(): EndpointHealth {
    return this.#health.state;
  }

  get counts(): EndpointCounts {
    return this.#counts.state;
  }

  get breakers(): EndpointBreakers {
    return this.#breakers.state;
  }

  get status(): EndpointStatus {
    const { state, until } = this.breakers.own;
    const health = this.isUp ? 'up' : 'down';
    return {
      endpoint: this.id,
      state: state === 'closed' ? health : state,
      ...this.counts,
      until,
      routes: this.breakers.listRoutes(),
    };
  }

  isAdmitting({ route, isRepeatable = false }: RoutedCall): boolean {
    const { own } = this.breakers;
    // The calls of one route are alike: none of them is a better probe.
    return own.isAdmitting(isRepeatable) && (this.breakers.find(route)?.isAdmitting() ?? true);
  }

  /** Whether it is up, with its breaker and that of the route closed. */
  isServing(route: string | null): boolean {
    if (!this.isUp || this.breakers.own.state !== 'closed') return false;
    const breaker = this.breakers.find(route);
    return breaker === undefined || breaker.state === 'closed';
  }

  /** The milliseconds until the breakers admit a probe; once they do, until this call may be one. */
  waitMs({ route, isRepeatable = false }: RoutedCall): number {
    const { own } = this.breakers;
    const probeMs = Math.max(own.waitMs(), this.breakers.find(route)?.waitMs() ?? 0);
    return probeMs > 0 ? probeMs : own.waitMs(isRepeatable);
  }

  /** The failure that opened its breaker, or that of the route; `null` while both are closed. */
  failure(route: string | null): string | null {
    return this.breakers.own.failure ?? this.breakers.find(route)?.failure ?? null;
  }

  /** Call only while `isAdmitting`; `end` the attempt once. */
  begin(route: string | null): Attempt {
    const { counts } = this;
    counts.inFlight += 1;
    counts.calls += 1;
    const { own } = this.breakers;
    const routeBreaker = route === null ? null : this.breakers.get(route);
    return { ticket: own.admit(), routeBreaker, routeTicket: routeBreaker?.admit() ?? 0 };
  }

  /**
   * Takes a health check as the probe of a breaker that waits for one.
   * @param failure `null` for a check that passed
   */
  probe(failure: string | null): void {
    const { own } = this.breakers;
    if (own.state !== 'half_open' || !own.isAdmitting()) return;
    own.settle(own.admit(), failure === null ? 'success' : 'failure', failure);
  }

  /** Ends an attempt that was not sent. */
  abandon({ ticket, routeBreaker, routeTicket }: Attempt): void {
    const { counts } = this;
    counts.inFlight -= 1;
    counts.calls -= 1;
    this.breakers.own.settle(ticket, 'neutral', null);
    routeBreaker?.settle(routeTicket, 'neutral', null);
  }

  /** @param failure the reason, for operators */
  end(
    { ticket, routeBreaker, routeTicket }: Attempt,
    { endpoint, route }: AttemptVerdict,
    failure: string | null = null,
  ): void {
    const { counts } = this;
    counts.inFlight -= 1;
    if (endpoint === 'failure' || route === 'failure') counts.failures += 1;
    this.breakers.own.settle(ticket, endpoint, failure);
    routeBreaker?.settle(routeTicket, route, failure);
  }
}
