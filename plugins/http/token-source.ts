import type { Log, ProviderFailure, Secret } from '../../core/contract/index.js';
import type { IssuedToken } from './token-endpoint.js';

/** A token is renewed so long before it expires, or after half its life if that is later. Milliseconds. */
const RENEW_AHEAD_MS = 30_000;
/** Between two tokens that the provider rejected. Milliseconds. */
const DROP_INTERVAL_MS = 10_000;
/** After a failed request; doubles up to the maximum. Milliseconds. */
const FIRST_PAUSE_MS = 1_000;
const MAX_PAUSE_MS = 30_000;

export interface AccessToken {
  readonly value: Secret;
  /** The same as a list. */
  readonly secrets: readonly Secret[];
  /** From then on it is renewed, and still used. */
  readonly renewAt: number;
  readonly expiresAt: number;
}

interface TokenSourceOptions {
  /** Rejects with a ProviderFailure. */
  readonly request: () => Promise<IssuedToken>;
  readonly log: Log;
  /** Milliseconds of a monotonic clock. */
  readonly now?: () => number;
}

/** Keeps one token for all calls, and has at most one request for a new one. */
export class TokenSource {
  readonly #request: () => Promise<IssuedToken>;
  readonly #log: Log;
  readonly #now: () => number;
  #token: AccessToken | null = null;
  #pending: Promise<AccessToken> | null = null;
  #droppedAt = Number.NEGATIVE_INFINITY;
  /** The last failure since a token was issued. */
  #failure: {
    readonly error: ProviderFailure;
    readonly until: number;
    readonly pauseMs: number;
  } | null = null;

  constructor({ request, log, now = () => performance.now() }: TokenSourceOptions) {
    this.#request = request;
    this.#log = log;
    this.#now = now;
  }

  /** The token to send now; `null` where there is none. Begins to renew one that expires soon. */
  current(): AccessToken | null {
    const token = this.#token;
    if (token === null) return null;
    const now = this.#now();
    if (now < token.renewAt) return token;
    // Calls need it only once the old one has expired.
    this.renew().catch(() => {});
    return now < token.expiresAt ? token : null;
  }

  /**
   * A new token. Calls that wait at the same time share one request.
   * @throws ProviderFailure of the last request, also while the next has to wait.
   */
  renew(): Promise<AccessToken> {
    if (this.#pending !== null) return this.#pending;
    const failed = this.#failure;
    if (failed !== null && this.#now() < failed.until) return Promise.reject(failed.error);
    this.#pending = this.#issue();
    return this.#pending;
  }

  /**
   * The provider rejected the token: it is used no more.
   * @returns false for one that is not in use any more, and within 10 s after the last that was dropped
   */
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
      const renewAt = expiresAt - Math.min(RENEW_AHEAD_MS, lifetimeMs / 2);
      this.#token = { value, secrets: [value], renewAt, expiresAt };
      this.#failure = null;
      return this.#token;
    } catch (error) {
      const failure = error as ProviderFailure;
      const pauseMs = Math.min(MAX_PAUSE_MS, 2 * (this.#failure?.pauseMs ?? FIRST_PAUSE_MS / 2));
      this.#failure = { error: failure, until: this.#now() + pauseMs, pauseMs };
      this.#log.warn({ failure: failure.failure, reason: failure.detail }, 'token request failed');
      throw error;
    } finally {
      this.#pending = null;
    }
  }
}
