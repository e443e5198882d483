import CachePolicy from 'http-cache-semantics';
import type { Outcome } from '../../contract/index.js';
import type { CacheRules } from '../../manifest/cache-rules.js';

/** How long a response may be served, from the time of its arrival. */
interface Freshness {
  /** Milliseconds. */
  readonly freshMs: number;
  /** The time after that in which it is stale. Milliseconds. */
  readonly staleMs: number;
  /** The value of its `age`. Seconds. */
  readonly age: number;
}

const MS_PER_SECOND = 1000;
/** A year, beyond every `ttl_ms`. */
const NO_BOUND_SECONDS = 31_536_000;

/** Directives that forbid stale responses (RFC 9111, 4.2.4). */
const NEVER_STALE = ['must-revalidate', 'no-cache'];
/** Directives that forbid stale responses of a shared cache. */
const NEVER_STALE_SHARED = ['proxy-revalidate', 's-maxage'];

/**
 * Headers that differ for each call or caller, and are in no key. The provider receives them from
 * the host, so a response that varies by one fits no other request.
 */
const UNKEYED = /^(?:x-request-id|x-correlation-id|traceparent|tracestate|modgate-.*|date)$/;
const OF_ACTOR = new Set(['modgate-actor', 'modgate-identity']);

/**
 * Returns `null` for a response that may not be cached. @param headers the headers of a complete
 * 200
 */
export function readFreshness(
  headers: Outcome['headers'],
  { ttlMs, staleMs, isShared }: CacheRules,
): Freshness | null {
  if (headers['set-cookie'] !== undefined || !fitsOthers(headers['vary'], isShared)) return null;
  // Directives are case-insensitive, but the library compares them literally.
  const cacheControl = headers['cache-control']?.toLowerCase();
  const directives = listDirectives(cacheControl);
  const policy = new CachePolicy(
    { method: 'GET', headers: {} },
    { status: 200, headers: createPolicyHeaders(headers, cacheControl) },
    { shared: isShared, cacheHeuristic: 0, immutableMinTimeToLive: 0 },
  );
  if (!policy.storable()) return null;
  const age = Math.floor(policy.age());
  const isBounded = hasLifetime(headers, directives, isShared);
  const allowedSeconds = isBounded ? policy.maxAge() - age : NO_BOUND_SECONDS;
  const freshMs = Math.min(ttlMs, Math.max(0, allowedSeconds * MS_PER_SECOND));
  const never = isShared ? [...NEVER_STALE, ...NEVER_STALE_SHARED] : NEVER_STALE;
  const allowedStaleMs = never.some((name) => directives.has(name)) ? 0 : staleMs;
  return freshMs + allowedStaleMs === 0 ? null : { freshMs, staleMs: allowedStaleMs, age };
}

/**
 * Removes `proxy-revalidate`, which the library treats as never fresh; the rule of stale responses
 * covers it.
 */
function createPolicyHeaders(
  { vary: _vary, ...headers }: Outcome['headers'],
  cacheControl: string | undefined,
): Record<string, string> {
  if (cacheControl === undefined) return headers;
  return { ...headers, 'cache-control': cacheControl.replaceAll('proxy-revalidate', '') };
}

/** Whether the provider declares how long its response is fresh. */
function hasLifetime(
  headers: Outcome['headers'],
  directives: ReadonlySet<string>,
  isShared: boolean,
): boolean {
  const names = ['max-age', 'no-cache', ...(isShared ? ['s-maxage'] : [])];
  if (names.some((name) => directives.has(name))) return true;
  if (headers['expires'] !== undefined) return true;
  return headers['cache-control'] === undefined && /no-cache/i.test(headers['pragma'] ?? '');
}

/** The names of the directives; text in quotes may add some, which is safe. */
function listDirectives(cacheControl = ''): ReadonlySet<string> {
  return new Set(cacheControl.split(',').map((part) => part.split('=')[0]?.trim() ?? ''));
}

/** Whether the key of a response has every header by which it varies. */
function fitsOthers(vary: string | undefined, isShared: boolean): boolean {
  if (vary === undefined) return true;
  const names = vary.split(',').map((name) => name.trim().toLowerCase());
  return names.every((name) => {
    if (name === '*') return false;
    return !UNKEYED.test(name) || (OF_ACTOR.has(name) && !isShared);
  });
}
