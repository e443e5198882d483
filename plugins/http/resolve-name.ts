import { lookup, Resolver } from 'node:dns/promises';

/** What the README promises: the time to live of a record counts from 1 to 30 s. */
const SHORTEST_MS = 1_000;
const LONGEST_MS = 30_000;

const SYSTEM = new Resolver();

export interface ResolvedName {
  /** Sorted, so that two answers can be compared. */
  readonly addresses: readonly string[];
  /** How long that may be believed. */
  readonly ttlMs: number;
}

/**
 * Asks DNS, which knows for how long; a name that only the system knows (`/etc/hosts`, a search domain)
 * is believed for the longest time.
 * @throws Error when nobody knows the name.
 */
export async function resolveName(host: string, resolver = SYSTEM): Promise<ResolvedName> {
  const asked = [resolver.resolve4(host, { ttl: true }), resolver.resolve6(host, { ttl: true })];
  const answers = await Promise.allSettled(asked);
  const records = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
  if (records.length === 0) {
    const found = await lookup(host, { all: true });
    return { addresses: found.map(({ address }) => address).sort(), ttlMs: LONGEST_MS };
  }
  const ttlMs = 1_000 * Math.min(...records.map(({ ttl }) => ttl));
  return {
    addresses: records.map(({ address }) => address).sort(),
    ttlMs: Math.min(LONGEST_MS, Math.max(SHORTEST_MS, ttlMs)),
  };
}

export type ResolveName = (host: string) => Promise<ResolvedName>;

/** After a name that could not be resolved: what was known goes on being used meanwhile. */
export const RETRY_MS = LONGEST_MS;
