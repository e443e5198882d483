import type { Balancing } from '../contract/index.js';
import { hashText, mixHashes } from '../lib/hash.js';
import { type Endpoint, PREFERENCE, type Preference } from './endpoint.js';

/**
 * Chooses one of the endpoints that have the standing, of which there is at least one. May rule others
 * out by their standing, which is worked out anew each time: nothing is allocated for a choice.
 */
export type Strategy = (
  endpoints: readonly Endpoint[],
  standing: Preference,
  key: string | null,
) => Endpoint | null;

export const STRATEGIES: Readonly<Record<Balancing['strategy'], Strategy>> = {
  round_robin: chooseInTurn,
  least_in_flight: chooseLeastInFlight,
  consistent_hash: chooseByHash,
};

/**
 * Smooth weighted round robin, as nginx has it: weights 5, 1, 1 give `a a b a c a a` and not five times
 * `a` in a row.
 */
function chooseInTurn(endpoints: readonly Endpoint[], standing: Preference): Endpoint | null {
  let total = 0;
  let chosen: Endpoint | null = null;
  for (const endpoint of endpoints) {
    if (endpoint.preference !== standing) continue;
    total += endpoint.weight;
    endpoint.credit += endpoint.weight;
    if (chosen === null || endpoint.credit > chosen.credit) chosen = endpoint;
  }
  if (chosen !== null) chosen.credit -= total;
  return chosen;
}

/** The fewest calls in flight by weight; those that are equal take turns. */
function chooseLeastInFlight(
  endpoints: readonly Endpoint[],
  standing: Preference,
): Endpoint | null {
  let least = Number.POSITIVE_INFINITY;
  for (const endpoint of endpoints) {
    if (endpoint.preference === standing) least = Math.min(least, loadOf(endpoint));
  }
  for (const endpoint of endpoints) {
    if (loadOf(endpoint) > least) endpoint.preference = PREFERENCE.out;
  }
  return chooseInTurn(endpoints, standing);
}

function loadOf({ inFlight, weight }: Endpoint): number {
  return inFlight / weight;
}

/**
 * Weighted rendezvous hashing (Thaler and Ravishankar 1998; the weights by Schindelhauer and Schomaker
 * 2005): when an endpoint goes, its keys move and no others, and they come back with it.
 */
function chooseByHash(
  endpoints: readonly Endpoint[],
  standing: Preference,
  key: string | null,
): Endpoint | null {
  if (key === null) return chooseInTurn(endpoints, standing);
  const keyHash = hashText(key);
  let most = Number.NEGATIVE_INFINITY;
  let chosen: Endpoint | null = null;
  for (const endpoint of endpoints) {
    if (endpoint.preference !== standing) continue;
    const score = -endpoint.weight / Math.log(mixHashes(keyHash, endpoint.idHash));
    if (score <= most) continue;
    most = score;
    chosen = endpoint;
  }
  return chosen;
}
