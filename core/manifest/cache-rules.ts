import type { Manifest, ManifestRoute, RouteOperation } from '../contract/index.js';
import type { Descriptor } from '../descriptor/descriptor.js';
import { EXCHANGE_PATH } from '../descriptor/exchange.js';
import type { Violation } from '../document/diagnostic.js';
import { readMember } from '../lib/read-member.js';

/** How long the responses of a route are kept, and for whom. */
export interface CacheRules {
  /** Milliseconds. */
  readonly ttlMs: number;
  /** How long after that they are given while a new one is fetched. Milliseconds. */
  readonly staleMs: number;
  /** Whether one caller gets what was kept for another. */
  readonly isShared: boolean;
  /** Whether a response is for one token of its caller, which the provider's credentials are made of. */
  readonly isByToken: boolean;
  /** Whether nothing is kept: the descriptor says so, or the response is a stream. */
  readonly isOff: boolean;
}

type CachingDescriptor = Pick<Descriptor, 'cache' | 'identity' | 'provider'>;

/** `null` for a route that asks for no cache. */
export function cacheRulesOf(
  descriptor: CachingDescriptor,
  { method, operation = {} }: Pick<ManifestRoute, 'method' | 'operation'>,
): CacheRules | null {
  const { cache } = operation;
  if (cache === undefined || method !== 'GET') return null;
  return {
    ttlMs: cache.ttl_ms,
    staleMs: cache.stale_ms ?? 0,
    isShared: cache.shared === true && findVoidSharing(descriptor) === null,
    isByToken: exchangesTokens(descriptor),
    isOff: descriptor.cache === 'off' || streams(operation),
  };
}

/** With it the provider learns who calls in a way that no manifest can speak for; `null` for nothing. */
function findVoidSharing(descriptor: Omit<CachingDescriptor, 'cache'>): readonly string[] | null {
  if (descriptor.identity) return ['identity'];
  return exchangesTokens(descriptor) ? EXCHANGE_PATH : null;
}

/** An adapter that ignores it counts too: that is the safe side. */
function exchangesTokens({ provider: { config } }: Pick<Descriptor, 'provider'>): boolean {
  return readMember(readMember(config, 'auth'), 'exchange') !== undefined;
}

/** The manifest promises what the descriptor makes impossible. @param manifest `null` where it is requested later */
export function findCacheWarnings(
  descriptor: Omit<CachingDescriptor, 'cache'>,
  manifest: Pick<Manifest, 'http_routes'> | null,
): Violation[] {
  const path = findVoidSharing(descriptor);
  if (path === null || manifest === null) return [];
  const shared = manifest.http_routes.filter(({ operation }) => operation?.cache?.shared === true);
  return shared.map((route) => {
    const message = `'${path.join('.')}': the cache of route '${route.method} ${route.path}' is not shared, since the provider knows who calls`;
    const hint = `remove it, or shared in the manifest`;
    return { rule: 'unshared-cache', message, hint, path, at: 'key' };
  });
}

/** A stream is never held whole. */
export function streams({ response, stream }: RouteOperation): boolean {
  return response === 'bytes' || stream !== undefined;
}
