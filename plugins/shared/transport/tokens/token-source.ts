import type {
  Cancellation,
  Log,
  ProviderFailure,
  Secret,
} from '../../../../core/contract/index.js';
import { renewalOf } from '../../renewal-time.js';
import type { IssuedToken } from './token-endpoint.js';

/** The minimum time between two tokens that the provider rejected. Milliseconds. */
export const DROP_INTERVAL_MS = 10_000;
/** The pause after a failed request; it doubles up to the maximum. Milliseconds. */
const FIRST_PAUSE_MS = 1_000;
const MAX_PAUSE_MS = 30_000;

/** The last failure of a token endpoint since it issued a token. */
export interface TokenPause {
  readonly error: ProviderFailure;
  /** The time of the next allowed request. */
  readonly until: number;
  readonly pauseMs: number;
}

/** Returns the pause after another failure. */
export function extendPause(
  error: ProviderFailure,
  last: TokenPause | null,
  now: number,
): TokenPause {
  const pauseMs = Math.min(MAX_PAUSE_MS, 2 * (last?.pauseMs ?? FIRST_PAUSE_MS / 2));
  return { error, until: now + pauseMs, pauseMs };
}

export interface AccessToken {
  readonly value: Secret;
  /** The same as a list. */
  readonly secrets: readonly Secret[];
  /** The time from which it is renewed, although still in use. */
  readonly renewAt: number;
  readonly expiresAt: number;
}

/** Tokens for the calls of one module, or of one of its callers. */
export interface Tokens {
  /** The current token; `null` for none. Starts the renewal of a token that expires soon. */
  current(): AccessToken | null;
  /**
   * Returns a new token. Concurrent calls share one request.
   * @param signal ends the wait of this call
   * @throws ProviderFailure of the last request, also during a pause.
   */
  renew(signal: Cancellation): Promise<AccessToken>;
  /**
   * Drops a token that the provider rejected.
   * @returns false for a token that is no longer in use, and within 10 s after the last drop
   */
  drop(token: AccessToken): boolean;
}

interface TokenSourceOptions {
  /** Rejects with a ProviderFailure. */
  readonly request: () => Promise<IssuedToken>;
  readonly log: Log;
  /** Milliseconds of a monotonic clock. */
  readonly now?: () => number;
}

/** Keeps one token for all calls, with at most one pending request for a new one. */
export class TokenSource implements Tokens {
  readonly #request: () => Promise<IssuedToken>;
  readonly #log: Log;
  readonly #now: () => number;
  #token: AccessToken | null = null;
  #pending: Promise<AccessToken> | null = null;
  #droppedAt = Number.NEGATIVE_INFINITY;
  #failure: TokenPause | null = null;

  constructor({ request, log, now = () => performance.now() }: TokenSourceOptions) {
    this.#request = request;
    this.#log = log;
    this.#now = now;
  }

  current(): AccessToken | null {
    const token = this.#token;
    if (token === null) return null;
    const now = this.#now();
    if (now < token.renewAt) return token;
    // The failure is ignored, because calls need the new token only when the old one has expired.
    this.renew().catch(() => {});
    return now < token.expiresAt ? token : null;
  }

  /** The error of the last request; `null` after a success. */
  get problem(): string | null {
    return this.#failure?.error.detail ?? null;
  }

  renew(): Promise<AccessToken> {
    if (this.#pending !== null) return this.#pending;
    const failed = this.#failure;
    if (failed !== null && this.#now() < failed.until) return Promise.reject(failed.error);
    this.#pending = this.#issue();
    return this.#pending;
  }

  drop(token: AccessToken): boolean {
    const now = this.#now();
    if (token !== this.#token || now - this.#droppedAt < DROP_INTERVAL_MS) return false;
    this.#droppedAt = now;
    this.#token = null;
    return true;
  }

  async #issue(): Promise<AccessToken> {
    const startedAt = this.#now();
    try {
      const { value, lifetimeMs } = await this.#request();
      const expiresAt = startedAt + lifetimeMs;
      const renewAt = renewalOf(expiresAt, lifetimeMs);
      this.#token = { value, secrets: [value], renewAt, expiresAt };
      this.#failure = null;
      return this.#token;
    } catch (error) {
      const failure = error as ProviderFailure;
      this.#failure = extendPause(failure, this.#failure, this.#now());
      this.#log.warn({ failure: failure.failure, reason: failure.detail }, 'token request failed');
      throw error;
    } finally {
      this.#pending = null;
    }
  }
}
