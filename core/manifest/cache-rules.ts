import type { Manifest, ManifestRoute, RouteOperation } from '../contract/index.js';
import type { Descriptor } from '../descriptor/descriptor.js';
import { EXCHANGE_PATH } from '../descriptor/exchange.js';
import type { Violation } from '../document/diagnostic.js';
import { readMember } from '../lib/read-member.js';

/** The cache rules of a route. */
export interface CacheRules {
  /** Milliseconds. */
  readonly ttlMs: number;
  /** How long a stale response may be served while a new one is fetched. Milliseconds. */
  readonly staleMs: number;
  /** Whether a cached response may be served to other callers. */
  readonly isShared: boolean;
  /**
   * Whether a cached response is only valid for the token of its caller, from which the provider's
   * credentials are derived.
   */
  readonly isByToken: boolean;
  /** Whether caching is off: by the descriptor, or because the response is a stream. */
  readonly isOff: boolean;
}

type CachingDescriptor = Pick<Descriptor, 'cache' | 'identity' | 'provider'>;

/** Returns `null` for a route without a cache. */
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

/**
 * Returns the setting that reveals the caller to the provider, so that responses cannot be shared;
 * `null` for none.
 */
function findVoidSharing(descriptor: Omit<CachingDescriptor, 'cache'>): readonly string[] | null {
  if (descriptor.identity) return ['identity'];
  return exchangesTokens(descriptor) ? EXCHANGE_PATH : null;
}

/** Also counts adapters that ignore the setting, to be safe. */
function exchangesTokens({ provider: { config } }: Pick<Descriptor, 'provider'>): boolean {
  return readMember(readMember(config, 'auth'), 'exchange') !== undefined;
}

/**
 * Warns of cache rules that the descriptor makes ineffective. @param manifest `null` if it is
 * requested later
 */
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

/** Streams are never buffered as a whole. */
export function streams({ response, stream }: RouteOperation): boolean {
  return response === 'bytes' || stream !== undefined;
}
