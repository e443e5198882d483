import type { KeptResponse } from './response-cache.js';

/**
 * - `hit`: a fresh response was kept
 * - `stale`: one that is not fresh any more, while a new one is fetched
 * - `collapsed`: the response of a call that another request had begun
 * - `miss`: the provider was called
 * - `bypass`: nothing is kept for the request
 */
export type CacheResult = 'hit' | 'stale' | 'collapsed' | 'miss' | 'bypass';

const MS_PER_SECOND = 1000;

/** The value of `cache-status` (RFC 9211) where a kept response is given. */
export function describeKept(result: CacheResult, kept: KeptResponse, now: number): string {
  const ttl = `ttl=${Math.round((kept.freshUntil - now) / MS_PER_SECOND)}`;
  return result === 'collapsed' ? `modgate; fwd=miss; collapsed; ${ttl}` : `modgate; hit; ${ttl}`;
}

/** The same where the provider was called. @param reason of RFC 9211, 2.2 */
export function describeForward(reason: 'miss' | 'method' | 'bypass'): string {
  return `modgate; fwd=${reason}`;
}

/** The same once its response is kept. */
export function describeStored({ freshUntil, storedAt }: KeptResponse): string {
  const ttl = Math.round((freshUntil - storedAt) / MS_PER_SECOND);
  return `modgate; fwd=miss; stored; ttl=${ttl}`;
}

/** What a response says of its time. Seconds. */
export function readAge({ ageAtStart, storedAt }: KeptResponse, now: number): number {
  return ageAtStart + Math.max(0, Math.floor((now - storedAt) / MS_PER_SECOND));
}
