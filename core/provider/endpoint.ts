import type { Log } from '../contract/index.js';
import type { Breaker as BreakerSettings } from '../descriptor/descriptor.js';
import { hashText } from '../lib/hash.js';
import {
  type BreakerState,
  type BreakerTicket,
  CircuitBreaker,
  type Verdict,
} from './circuit-breaker.js';

/** What `GET /modules` says of an endpoint (contract 9). */
export interface EndpointStatus {
  readonly endpoint: string;
  /** The breaker's when that is not closed, else what the active checks say. */
  readonly state: 'up' | 'down' | 'open' | 'half_open';
  readonly inFlight: number;
  readonly calls: number;
  /** Those that counted for the breaker. */
  readonly failures: number;
  /** When an open breaker lets a probe through. */
  readonly until: Date | null;
}

export interface EndpointOptions {
  /** Shown to ops. */
  readonly id: string;
  readonly weight: number;
  /** `null` for a provider that names none: there is then nothing to choose. */
  readonly name: string | null;
  readonly breaker: BreakerSettings;
  readonly log: Log;
}

/** How much an endpoint is wanted for the next attempt: the strategy chooses among the most wanted. */
export const PREFERENCE = {
  /** Its breaker keeps it away, or the strategy has ruled it out. */
  out: 0,
  /** This call has failed there before. */
  tried: 1,
  /** Its checks fail, which is a last resort, not an end. */
  down: 2,
  up: 3,
} as const;

export type Preference = (typeof PREFERENCE)[keyof typeof PREFERENCE];

/** One replica of one module: its breaker, its checks, its counts. Never shared between modules. */
export class Endpoint {
  readonly id: string;
  readonly weight: number;
  readonly name: string | null;
  readonly breaker: CircuitBreaker;
  readonly idHash: number;
  inFlight = 0;
  /** By the active checks; up until they say otherwise. */
  isUp = true;
  /** Notes of the strategies, worked out anew for each choice. */
  preference: Preference = PREFERENCE.out;
  /** What smooth round robin owes the endpoint. */
  credit = 0;
  #calls = 0;
  #failures = 0;

  constructor({ id, weight, name, breaker, log }: EndpointOptions) {
    this.id = id;
    this.idHash = hashText(id);
    this.weight = weight;
    this.name = name;
    this.breaker = new CircuitBreaker(breaker, (state, openMs) =>
      reportBreaker(log, id, state, openMs),
    );
  }

  get status(): EndpointStatus {
    const { state, until } = this.breaker;
    const byChecks = this.isUp ? 'up' : 'down';
    return {
      endpoint: this.id,
      state: state === 'closed' ? byChecks : state,
      inFlight: this.inFlight,
      calls: this.#calls,
      failures: this.#failures,
      until,
    };
  }

  /** An attempt starts; `end` it with what is returned. */
  begin(): BreakerTicket {
    this.inFlight += 1;
    this.#calls += 1;
    return this.breaker.admit();
  }

  end(ticket: BreakerTicket, verdict: Verdict): void {
    this.inFlight -= 1;
    if (verdict === 'failure') this.#failures += 1;
    this.breaker.settle(ticket, verdict);
  }
}

function reportBreaker(log: Log, endpoint: string, state: BreakerState, openMs: number): void {
  if (state === 'open') log.warn({ endpoint, open_ms: openMs }, 'the breaker is open');
  else
    log.info(
      { endpoint },
      state === 'closed' ? 'the breaker is closed' : 'the breaker lets a probe through',
    );
}
