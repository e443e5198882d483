import { LRUCache } from 'lru-cache';
import type { Actor } from '../contract/index.js';
import type { VerifiedToken } from './verify-jwt.js';

/** About 10 MB: a digest, an actor and its scopes each. */
const MAX_ACTORS = 10_000;

/**
 * Actors by the digest of their token. An entry expires by the wall clock, as its token does, and by the
 * monotonic clock: setting the clock back must not revive a revoked token.
 */
export class ActorCache {
  readonly #entries = new LRUCache<string, VerifiedToken>({ max: MAX_ACTORS });

  get(digest: string): Actor | undefined {
    const entry = this.#entries.get(digest);
    return entry !== undefined && Date.now() < entry.expiresAt ? entry.actor : undefined;
  }

  /** Keeps the actor for `maxMs`, and never longer than its token is valid. */
  set(digest: string, token: VerifiedToken, maxMs: number): void {
    const ttl = Math.min(token.expiresAt - Date.now(), maxMs);
    if (ttl > 0) this.#entries.set(digest, token, { ttl });
  }
}
