import type { Manifest, ManifestRoute, RouteOperation } from '../contract/index.js';
import { toDescriptorPath } from '../descriptor/config-path.js';
import type { Descriptor } from '../descriptor/descriptor.js';
import type { Violation } from '../document/diagnostic.js';

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

type CachingDescriptor = Pick<Descriptor, 'cache' | 'identity' | 'configDescription'>;

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
    isByToken: descriptor.configDescription?.exchange !== undefined,
    isOff: descriptor.cache === 'off' || streams(operation),
  };
}

interface VoidSharing {
  readonly path: readonly string[];
  readonly reason: string;
  readonly hint: string;
}

/**
 * Returns the setting by which the provider knows the caller, so that responses cannot be shared;
 * `null` for none.
 */
function findVoidSharing({
  identity,
  configDescription,
}: Omit<CachingDescriptor, 'cache'>): VoidSharing | null {
  const reason = 'since the provider knows who calls';
  const hint = 'remove it, or shared in the manifest';
  if (identity) return { path: ['identity'], reason, hint };
  if (configDescription === null) {
    return {
      path: ['provider', 'kind'],
      reason: 'since the adapter does not say whether the provider knows who calls',
      hint: 'remove shared in the manifest, or report it to the author of the adapter',
    };
  }
  const { exchange } = configDescription;
  return exchange === undefined ? null : { path: toDescriptorPath(exchange.path), reason, hint };
}

/**
 * Warns of cache rules that the descriptor makes ineffective. @param manifest `null` if it is
 * requested later
 */
export function findCacheWarnings(
  descriptor: Omit<CachingDescriptor, 'cache'>,
  manifest: Pick<Manifest, 'http_routes'> | null,
): Violation[] {
  const voidSharing = findVoidSharing(descriptor);
  if (voidSharing === null || manifest === null) return [];
  const { path, reason, hint } = voidSharing;
  const shared = manifest.http_routes.filter(({ operation }) => operation?.cache?.shared === true);
  return shared.map((route) => {
    const message = `'${path.join('.')}': the cache of route '${route.method} ${route.path}' is not shared, ${reason}`;
    return { rule: 'unshared-cache', message, hint, path, at: 'key' };
  });
}

/** Streams are never buffered as a whole. */
export function streams({ response, response_types, stream }: RouteOperation): boolean {
  return response === 'bytes' || response_types !== undefined || stream !== undefined;
}
