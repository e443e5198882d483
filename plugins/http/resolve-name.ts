import { lookup, Resolver } from 'node:dns/promises';

/** The time to live of a record is used within these bounds. */
const SHORTEST_MS = 1_000;
const LONGEST_MS = 30_000;

const SYSTEM = new Resolver();

export interface ResolvedName {
  /** Sorted, so that two results can be compared. */
  readonly addresses: readonly string[];
  /** How long the result is valid. */
  readonly ttlMs: number;
}

/**
 * Queries DNS, which has a time to live. A name that only the system resolves (`/etc/hosts`, a search
 * domain) is valid for the longest time.
 * @throws Error when the name cannot be resolved.
 */
export async function resolveName(host: string, resolver = SYSTEM): Promise<ResolvedName> {
  const queries = [resolver.resolve4(host, { ttl: true }), resolver.resolve6(host, { ttl: true })];
  const answers = await Promise.allSettled(queries);
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

/** After a failed lookup; the last result is used until then. */
export const RETRY_MS = LONGEST_MS;
