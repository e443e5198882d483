import CachePolicy from 'http-cache-semantics';
import type { Outcome } from '../../contract/index.js';
import { type CacheDirective, parseCacheDirectives } from '../../lib/cache-directives.js';
import { formatHttpDate, parseHttpDate } from '../../lib/http-date.js';
import { TOKEN } from '../../lib/token.js';
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
/** Or nothing, between two commas. */
const FIELD_NAME = new RegExp(`^(?:${TOKEN})?$`);
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
  const directives = parseCacheDirectives(headers['cache-control']?.toLowerCase() ?? '');
  if (directives === null) return null;
  const names = new Set(directives.map(({ name }) => name));
  // Recipients differ in which of two values of a directive counts.
  if (names.size < new Set(directives.map(({ text }) => text)).size) return null;
  const policy = new CachePolicy(
    { method: 'GET', headers: {} },
    { status: 200, headers: createPolicyHeaders(headers, directives) },
    { shared: isShared, cacheHeuristic: 0, immutableMinTimeToLive: 0 },
  );
  if (!policy.storable()) return null;
  // An invalid one can be negative.
  const age = Math.max(0, Math.floor(policy.age()));
  const isBounded = hasLifetime(headers, names, isShared);
  const allowedSeconds = isBounded ? policy.maxAge() - age : NO_BOUND_SECONDS;
  const freshMs = Math.min(ttlMs, Math.max(0, allowedSeconds * MS_PER_SECOND));
  const never = isShared ? [...NEVER_STALE, ...NEVER_STALE_SHARED] : NEVER_STALE;
  const allowedStaleMs = never.some((name) => names.has(name)) ? 0 : staleMs;
  return freshMs + allowedStaleMs === 0 ? null : { freshMs, staleMs: allowedStaleMs, age };
}

/**
 * Removes `proxy-revalidate`, which the library treats as never fresh; the rule of stale responses
 * covers it. Dates are those of HTTP: the library reads others too, some of them in local time.
 */
function createPolicyHeaders(
  { vary: _vary, 'cache-control': received, expires, date, ...headers }: Outcome['headers'],
  directives: readonly CacheDirective[],
): Record<string, string> {
  const others = directives.filter(({ name }) => name !== 'proxy-revalidate');
  const sentAt = parseHttpDate(date ?? '');
  return {
    ...headers,
    ...(received !== undefined && { 'cache-control': others.map(({ text }) => text).join(', ') }),
    // An invalid one is in the past (RFC 9111, 5.3).
    ...(expires !== undefined && { expires: formatHttpDate(parseHttpDate(expires) ?? 0) }),
    ...(sentAt !== null && { date: formatHttpDate(sentAt) }),
  };
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

/** Whether the key of a response has every header by which it varies. */
function fitsOthers(vary: string | undefined, isShared: boolean): boolean {
  if (vary === undefined) return true;
  const names = vary.split(',').map((name) => name.trim().toLowerCase());
  return names.every((name) => {
    if (name === '*' || !FIELD_NAME.test(name)) return false;
    return !UNKEYED.test(name) || (OF_ACTOR.has(name) && !isShared);
  });
}
