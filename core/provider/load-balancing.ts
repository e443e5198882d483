import type { Balancing } from '../contract/index.js';
import { hashText, mixHashes } from '../lib/hash.js';
import { type Endpoint, PREFERENCE, type Preference } from './endpoint.js';

/**
 * Chooses an endpoint among those with the given preference; there is at least one. It may exclude others
 * by changing their preference, which is computed for each choice, so that a choice allocates nothing.
 */
export type Strategy = (
  endpoints: readonly Endpoint[],
  preference: Preference,
  key: string | null,
) => Endpoint | null;

export const STRATEGIES: Readonly<Record<Balancing['strategy'], Strategy>> = {
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
