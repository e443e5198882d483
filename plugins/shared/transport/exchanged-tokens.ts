import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import {
  type Actor,
  type CallerToken,
  type Cancellation,
  type Log,
  ProviderFailure,
} from '../../../core/contract/index.js';
import { QueueFull, Semaphore } from '../../../core/contract/semaphore.js';
import { renewalOf } from '../renewal-time.js';
import type { IssuedToken } from './tokens/token-endpoint.js';
import { createTokenFailure, TokenRejected } from './tokens/token-failure.js';
import {
  type AccessToken,
  DROP_INTERVAL_MS,
  extendPause,
  type TokenPause,
  type Tokens,
} from './tokens/token-source.js';

/** The maximum number of tokens of all modules: about 20 MB. */
const MAX_TOKENS = 10_000;
/** How long a rejected token of a caller is not tried again. Milliseconds. */
const REJECTED_MS = 5_000;
const MAX_RUNNING = 16;
const MAX_WAITING = 256;
const MIN_SERVER_ERROR = 500;
/** Errors about the client of the host, not about the token of a caller. */
const CLIENT_ERRORS: ReadonlySet<string | null> = new Set([
  'invalid_client',
  'unauthorized_client',
  'unsupported_grant_type',
]);
/** Statuses that reject a token even without an error code. */
const REJECTING_STATUSES: ReadonlySet<number> = new Set([400, 403]);

/** Kept on a reload: a key consists of the settings and of a token. */
const ISSUED = new LRUCache<string, AccessToken>({ max: MAX_TOKENS });

interface ExchangedTokensOptions {
  /** A digest of all settings. */
  readonly settings: string;
  /** Rejects with a ProviderFailure. */
  readonly request: (token: CallerToken) => Promise<IssuedToken>;
  readonly log: Log;
  /** Milliseconds of a monotonic clock. */
  readonly now?: () => number;
}

/** A pending request for a token, which several calls of its caller may share. */
interface Pending {
  readonly issued: Promise<AccessToken>;
  /** Removes it from the queue. */
  readonly abandon: AbortController;
  waiting: number;
}

/** Exchanges the tokens of callers, and caches the results. */
export class ExchangedTokens {
  readonly #settings: string;
  readonly #request: ExchangedTokensOptions['request'];
  readonly #log: Log;
  readonly #now: () => number;
  readonly #queue = new Semaphore(MAX_RUNNING, MAX_WAITING);
  /** The tokens by the token of the caller, which is one object in the host. */
  readonly #byCaller = new WeakMap<CallerToken, Tokens>();
  readonly #pending = new Map<string, Pending>();
  readonly #rejected = new LRUCache<string, ProviderFailure>({ max: MAX_TOKENS, ttl: REJECTED_MS });
  readonly #dropped = new LRUCache<string, true>({ max: MAX_TOKENS, ttl: DROP_INTERVAL_MS });
  #pause: TokenPause | null = null;

  constructor({ settings, request, log, now = () => performance.now() }: ExchangedTokensOptions) {
    this.#settings = settings;
    this.#request = request;
    this.#log = log;
    this.#now = now;
  }

  /** The last error of the endpoint; `null` after a success. */
  get problem(): string | null {
    return this.#pause?.error.detail ?? null;
  }

  /** Returns the tokens on behalf of one caller. */
  of(token: CallerToken, actor: Actor): Tokens {
    const cached = this.#byCaller.get(token);
    if (cached !== undefined) return cached;
    const tokens = this.#create(token, actor);
    this.#byCaller.set(token, tokens);
    return tokens;
  }

  #create(token: CallerToken, { kind, id }: Actor): Tokens {
    const digest = createHash('sha256').update(token.value.reveal()).digest('hex');
    const key = `${this.#settings}:${digest}`;
    const share = `${kind}:${id}`;
    return {
      current: () => this.#current(key, token, share),
      renew: (signal) => this.#renew(key, token, share, signal),
      drop: (issued) => this.#drop(key, issued),
    };
  }

  #current(key: string, token: CallerToken, share: string): AccessToken | null {
    const issued = ISSUED.get(key);
    if (issued === undefined || Date.now() >= token.expiresAt) return null;
    const now = this.#now();
    if (now >= issued.expiresAt) return null;
    if (now >= issued.renewAt && !this.#pending.has(key)) {
      // The failure is ignored, because calls need the new token only when the old one has expired.
      this.#issue(key, token, share)?.issued.catch(() => {});
    }
    return issued;
  }

  #renew(
    key: string,
    token: CallerToken,
    share: string,
    signal: Cancellation,
  ): Promise<AccessToken> {
    const current = this.#pending.get(key);
    const isLeaving = current?.abandon.signal.aborted === true;
    const pending = (isLeaving ? null : current) ?? this.#issue(key, token, share);
    if (pending !== null) return waitFor(pending, signal);
    const failure = this.#rejected.get(key) ?? this.#paused();
    return Promise.reject(failure ?? createTokenFailure('unavailable', 'no token'));
  }

  #drop(key: string, issued: AccessToken): boolean {
    if (ISSUED.peek(key) !== issued || this.#dropped.has(key)) return false;
    this.#dropped.set(key, true);
    ISSUED.delete(key);
    return true;
  }

  /** Returns `null` while the endpoint must not be called for this token. */
  #issue(key: string, token: CallerToken, share: string): Pending | null {
    if (this.#paused() !== null || this.#rejected.has(key)) return null;
    const abandon = new AbortController();
    const issued = this.#queue
      .run(() => this.#exchange(key, token), { signal: abandon.signal, share })
      .catch((error: unknown) => {
        throw error instanceof QueueFull ? createTokenFailure('overloaded', error.message) : error;
      })
      .finally(() => {
        if (this.#pending.get(key) === pending) this.#pending.delete(key);
      });
    const pending: Pending = { issued, abandon, waiting: 0 };
    this.#pending.set(key, pending);
    return pending;
  }

  /** Returns the reason why the endpoint is not called now; `null` if it may be. */
  #paused(): ProviderFailure | null {
    return this.#pause !== null && this.#now() < this.#pause.until ? this.#pause.error : null;
  }

  async #exchange(key: string, token: CallerToken): Promise<AccessToken> {
    // The pause may have begun while this request waited.
    const paused = this.#paused();
    if (paused !== null) throw paused;
    const startedAt = this.#now();
    const leftMs = token.expiresAt - Date.now();
    try {
      const { value, lifetimeMs } = await this.#request(token);
      this.#pause = null;
      const keptMs = Math.min(lifetimeMs, leftMs);
      const expiresAt = startedAt + keptMs;
      // A new token would also end with the token of the caller.
      const renewAt = lifetimeMs < leftMs ? renewalOf(expiresAt, lifetimeMs) : expiresAt;
      const issued = { value, secrets: [value], renewAt, expiresAt };
      const ttl = expiresAt - this.#now();
      // Without a limit, an entry would remain until the cache is full.
      if (ttl > 0) ISSUED.set(key, issued, { ttl: Math.ceil(ttl) });
      return issued;
    } catch (error) {
      throw this.#fail(key, error as ProviderFailure, startedAt);
    }
  }

  #fail(key: string, failure: ProviderFailure, startedAt: number): ProviderFailure {
    if (failure instanceof TokenRejected && rejectsToken(failure)) {
      const rejected = createRejection(failure.detail);
      this.#rejected.set(key, rejected);
      return rejected;
    }
    const last = this.#pause;
    // Concurrent requests have failed for the same reason.
    if (last === null || startedAt >= last.until) {
      this.#pause = extendPause(failure, last, this.#now());
      this.#log.warn({ failure: failure.failure, reason: failure.detail }, 'token request failed');
    }
    return failure;
  }
}

/** Leaves the queue when the signals of all waiting calls are aborted. */
function waitFor(pending: Pending, signal: Cancellation): Promise<AccessToken> {
  pending.waiting += 1;
  const listener = {
    handleEvent: () => {
      pending.waiting -= 1;
      if (pending.waiting === 0) pending.abandon.abort();
    },
  };
  signal.addEventListener('abort', listener);
  return pending.issued.finally(() => signal.removeEventListener('abort', listener));
}

/** Whether the error is about the token of the caller only. */
export function rejectsToken({ answer: { status, error } }: TokenRejected): boolean {
  if (status === 429 || status >= MIN_SERVER_ERROR || status < 400) return false;
  return error === null ? REJECTING_STATUSES.has(status) : !CLIENT_ERRORS.has(error);
}

/** Creates an error that becomes a 403 for the caller. */
export function createRejection(detail: string): ProviderFailure {
  return new ProviderFailure('refused', 'no token on behalf of the caller', {
    phase: 'preparing',
    detail,
  });
}
