import { lookup, Resolver } from 'node:dns/promises';
import type { OpenContext } from '../../../../core/contract/index.js';
import type { ResolverConfig } from '../transport-config.js';
import { AddressLookup } from './address-lookup.js';
import { QUERY_TIMEOUT_MS, QUERY_TRIES } from './endpoint-watch.js';
import { readResolver } from './resolver-config.js';

/**
 * All addresses of a name.
 * @throws Error `DNS ENOTFOUND broker.internal` without any.
 */
export type FindAddresses = (name: string) => Promise<readonly string[]>;

/**
 * For kinds that find their servers themselves, such as brokers: how the names of one provider are
 * resolved. With a `resolver` its DNS servers are asked, by the rules of `endpoints`: at most once in
 * `refresh_ms`, answers count for `stale_ms` while servers fail, and local addresses have to be
 * allowed. Lookups in flight end with the scope. Without one the system resolves names, including the hosts
 * file.
 */
export function createAddressFinder(
  config: ResolverConfig | undefined,
  { scope }: Pick<OpenContext, 'scope'>,
): FindAddresses {
  if (config === undefined) return findBySystem;
  const settings = readResolver(config);
  const resolver = new Resolver({ timeout: QUERY_TIMEOUT_MS, tries: QUERY_TRIES });
  if (settings.servers !== null) resolver.setServers(settings.servers);
  scope.defer(() => resolver.cancel());
  const known = new Map<string, { readonly lookup: AddressLookup; lookedAt: number }>();
  return async (name) => {
    const entry = known.get(name) ?? {
      lookup: new AddressLookup(name, resolver, settings),
      lookedAt: Number.NEGATIVE_INFINITY,
    };
    known.set(name, entry);
    if (performance.now() - entry.lookedAt >= settings.refreshMs) {
      await entry.lookup.refresh();
      // Callers space their attempts: without addresses each one asks again.
      if (entry.lookup.addresses.length > 0) entry.lookedAt = performance.now();
    }
    const { addresses, failure } = entry.lookup;
    if (addresses.length > 0) return addresses;
    throw new Error(failure ?? `DNS ENODATA ${name}`);
  };
}

async function findBySystem(name: string): Promise<readonly string[]> {
  try {
    const found = await lookup(name, { all: true });
    if (found.length > 0) return found.map(({ address }) => address);
  } catch (error) {
    throw new Error(`DNS ${(error as NodeJS.ErrnoException).code ?? 'error'} ${name}`);
  }
  throw new Error(`DNS ENODATA ${name}`);
}
