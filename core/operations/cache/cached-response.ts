import type { CacheRules } from '../../manifest/cache-rules.js';
import type { EndpointBase } from '../../provider/endpoint-base.js';
import type { CheckedOutcome } from '../../provider/outcome.js';
import type { EntryPlace } from './entry-index.js';
import { readFreshness } from './freshness.js';
import type { CachedResponse } from './response-cache.js';

const OK = 200;
/** The maximum length of a cached response; longer ones would displace many others. Bytes. */
const MAX_KEPT_BYTES = 1_048_576;

/**
 * Creates the cached form of a forwarded response, whose body was validated; returns `null` for a
 * response that may not be cached.
 * @param now the time on the monotonic clock. Milliseconds
 */
export function createCachedResponse(
  outcome: CheckedOutcome,
  base: EndpointBase | null,
  { place, rules, now }: { place: EntryPlace; rules: CacheRules; now: number },
): CachedResponse | null {
  const { status, headers, pieces, length, isDelimited, stream } = outcome;
  if (status !== OK || stream !== null || !isDelimited || length > MAX_KEPT_BYTES) return null;
  const freshness = readFreshness(headers, rules);
  if (freshness === null) return null;
  const freshUntil = now + freshness.freshMs;
  const { age: _age, ...kept } = headers;
  return {
    place,
    outcome: {
      ...outcome,
      headers: kept,
      // Only errors need them.
      secrets: [],
      pieces: [copyPieces(pieces, length)],
      invalidJson: null,
    },
    base,
    ageAtStart: freshness.age,
    storedAt: now,
    freshUntil,
    staleUntil: freshUntil + freshness.staleMs,
  };
}

/**
 * Copies pieces, because a piece may be a small part of a buffer, which would stay in memory with
 * it.
 */
function copyPieces(pieces: readonly Uint8Array[], length: number): Uint8Array {
  const copy = Buffer.allocUnsafeSlow(length);
  let offset = 0;
  for (const piece of pieces) {
    copy.set(piece, offset);
    offset += piece.length;
  }
  return copy;
}
