import type { CachedResponse } from './response-cache.js';

/**
 * - `hit`: a fresh response was cached
 * - `stale`: a stale response is served while a new one is fetched
 * - `collapsed`: the response of a call that another request had begun
 * - `miss`: the provider was called
 * - `bypass`: the request is not cached
 */
export type CacheResult = 'hit' | 'stale' | 'collapsed' | 'miss' | 'bypass';

const MS_PER_SECOND = 1000;

/** The value of `cache-status` (RFC 9211) for a cached response. */
export function describeCached(result: CacheResult, cached: CachedResponse, now: number): string {
  const ttl = `ttl=${Math.round((cached.freshUntil - now) / MS_PER_SECOND)}`;
  return result === 'collapsed' ? `modgate; fwd=miss; collapsed; ${ttl}` : `modgate; hit; ${ttl}`;
}

/** The value for a call of the provider. @param reason a reason of RFC 9211, 2.2 */
export function describeForward(reason: 'miss' | 'method' | 'bypass'): string {
  return `modgate; fwd=${reason}`;
}

/** The value once the response is cached. */
export function describeStored({ freshUntil, storedAt }: CachedResponse): string {
  const ttl = Math.round((freshUntil - storedAt) / MS_PER_SECOND);
  return `modgate; fwd=miss; stored; ttl=${ttl}`;
}

/** The age of a response. Seconds. */
export function readAge({ ageAtStart, storedAt }: CachedResponse, now: number): number {
  return ageAtStart + Math.max(0, Math.floor((now - storedAt) / MS_PER_SECOND));
}
