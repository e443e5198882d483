import { type Balancing, ProviderFailure } from '../contract/index.js';
import { hashText, mixHashes } from '../lib/hash.js';
import { type Endpoint, PREFERENCE, type Preference, type RoutedCall } from './endpoint.js';
import { createOpenBreaker } from './rejected-call.js';

/** The endpoints of one module, and the choice among them. */
export class EndpointPool {
  readonly #strategy: Strategy;
  #all: readonly Endpoint[] = [];
  /** Most modules have one endpoint. */
  #only: Endpoint | null = null;
  /** Most modules have no endpoint that is reserved for a failure of another one. */
  #hasPriorities = false;
  /** The reason why there is no endpoint, for operators. */
  #absence: string | null = null;

  constructor(all: readonly Endpoint[], strategy: Balancing['strategy']) {
    this.#strategy = STRATEGIES[strategy];
    this.replace(all);
  }

  get all(): readonly Endpoint[] {
    return this.#all;
  }

  /** @param absence the reason for an empty list, for operators */
  replace(all: readonly Endpoint[], absence: string | null = null): void {
    this.#all = all;
    this.#only = all.length === 1 ? (all[0] ?? null) : null;
    this.#hasPriorities = all.some(({ priority }) => priority > 0);
    this.#absence = absence;
  }

  /** Whether any endpoint admits a call, besides the excluded ones. */
  isAdmitting(call: RoutedCall, excluded: readonly Endpoint[] = []): boolean {
    return this.#all.some((endpoint) => !excluded.includes(endpoint) && endpoint.isAdmitting(call));
  }

  /** The milliseconds until an endpoint admits a probe. */
  waitMs(call: RoutedCall): number {
    return Math.min(...this.#all.map((endpoint) => endpoint.waitMs(call)));
  }

  /** Creates the failure of a call while every breaker is open, or no endpoint is known. */
  createRejection(call: RoutedCall): ProviderFailure {
    if (this.#all.length === 0) return createAbsence(this.#absence);
    const failures = this.#all.map((endpoint) => endpoint.failure(call.route));
    return createOpenBreaker(this.waitMs(call), failures.find(Boolean) ?? null);
  }

  /**
   * Returns the endpoint for the next attempt; `begin` must follow at once. Returns `null` when
   * every breaker is open. An endpoint that the call has tried is chosen again only if there is no
   * other.
   */
  choose(call: RoutedCall, key: string | null, tried: readonly Endpoint[]): Endpoint | null {
    if (this.#only !== null) return this.#only.isAdmitting(call) ? this.#only : null;
    const best = this.#rank(call, tried);
    return best === PREFERENCE.out ? null : this.#strategy(this.#all, best, key);
  }

  /** Sets the preference of each endpoint. @returns the best. */
  #rank(call: RoutedCall, tried: readonly Endpoint[]): Preference {
    let best: Preference = PREFERENCE.out;
    const last = this.#hasPriorities ? this.#lastPriority(call.route) : Number.POSITIVE_INFINITY;
    for (const endpoint of this.#all) {
      endpoint.preference =
        endpoint.priority > last ? PREFERENCE.out : preferenceOf(endpoint, call, tried);
      if (endpoint.preference > best) best = endpoint.preference;
    }
    return best;
  }

  /** Endpoints up to this priority may serve, including those whose breaker needs a probe. */
  #lastPriority(route: string | null): number {
    let last = Number.POSITIVE_INFINITY;
    for (const endpoint of this.#all) {
      if (endpoint.priority < last && endpoint.isServing(route)) last = endpoint.priority;
    }
    return last;
  }
}

/** Creates a failure that no endpoint has caused, because nothing was sent. */
function createAbsence(reason: string | null): ProviderFailure {
  const detail = reason ?? 'no endpoint is known';
  return new ProviderFailure('unavailable', 'no endpoint is known', { phase: 'preparing', detail });
}

function preferenceOf(
  endpoint: Endpoint,
  call: RoutedCall,
  tried: readonly Endpoint[],
): Preference {
  if (!endpoint.isAdmitting(call)) return PREFERENCE.out;
  if (tried.includes(endpoint)) return PREFERENCE.tried;
  return endpoint.isUp ? PREFERENCE.up : PREFERENCE.down;
}

/**
 * Chooses an endpoint among those with the given preference; there is at least one. It may exclude
 * others by changing their preference, which is computed for each choice, so that a choice
 * allocates nothing.
 */
type Strategy = (
  endpoints: readonly Endpoint[],
  preference: Preference,
  key: string | null,
) => Endpoint | null;

const STRATEGIES: Readonly<Record<Balancing['strategy'], Strategy>> = {
  round_robin: chooseInTurn,
  least_in_flight: chooseLeastInFlight,
  consistent_hash: chooseByHash,
};

/** Smooth weighted round robin, as in nginx: weights 5, 1, 1 give `a a b a c a a`. */
function chooseInTurn(endpoints: readonly Endpoint[], preference: Preference): Endpoint | null {
  let total = 0;
  let chosen: Endpoint | null = null;
  for (const endpoint of endpoints) {
    if (endpoint.preference !== preference) continue;
    total += endpoint.weight;
    endpoint.credit += endpoint.weight;
    if (chosen === null || endpoint.credit > chosen.credit) chosen = endpoint;
  }
  if (chosen !== null) chosen.credit -= total;
  return chosen;
}

/** The fewest calls in flight by weight; equal ones take turns. */
function chooseLeastInFlight(
  endpoints: readonly Endpoint[],
  preference: Preference,
): Endpoint | null {
  let least = Number.POSITIVE_INFINITY;
  for (const endpoint of endpoints) {
    if (endpoint.preference === preference) least = Math.min(least, loadOf(endpoint));
  }
  for (const endpoint of endpoints) {
    if (loadOf(endpoint) > least) endpoint.preference = PREFERENCE.out;
  }
  return chooseInTurn(endpoints, preference);
}

function loadOf({ inFlight, weight }: Endpoint): number {
  return inFlight / weight;
}

/**
 * Weighted rendezvous hashing (Thaler and Ravishankar 1998; weights by Schindelhauer and Schomaker 2005):
 * when an endpoint leaves, only its keys move, and they return with it.
 */
function chooseByHash(
  endpoints: readonly Endpoint[],
  preference: Preference,
  key: string | null,
): Endpoint | null {
  if (key === null) return chooseInTurn(endpoints, preference);
  const keyHash = hashText(key);
  let most = Number.NEGATIVE_INFINITY;
  let chosen: Endpoint | null = null;
  for (const endpoint of endpoints) {
    if (endpoint.preference !== preference) continue;
    const score = -endpoint.weight / Math.log(mixHashes(keyHash, endpoint.idHash));
    if (score <= most) continue;
    most = score;
    chosen = endpoint;
  }
  return chosen;
}
