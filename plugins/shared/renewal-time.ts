/**
 * How long before its expiry a token is renewed, or after half its lifetime if that is later.
 * Milliseconds.
 */
const RENEW_AHEAD_MS = 30_000;

/** Returns the time at which a token is renewed. */
export function renewalOf(expiresAt: number, lifetimeMs: number): number {
  return expiresAt - Math.min(RENEW_AHEAD_MS, lifetimeMs / 2);
}
