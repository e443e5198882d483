import { setTimeout as wait } from 'node:timers/promises';
import { SurfaceError } from '../../../core/contract/index.js';
import { renewalOf } from '../../shared/renewal-time.js';
import {
  decryptRefreshToken,
  encryptRefreshToken,
  encryptToken,
  type Renewal,
  type SessionRecord,
} from './session-record.js';
import type { StoredSessions } from './stored-sessions.js';

/** How long a request waits for a new token. */
const MAX_WAIT_MS = 5000;
/** How often a process looks whether another one has renewed the token. */
const POLL_MS = 100;
/** An issuer has 5 s for each of its metadata, the token and its keys. */
const CLAIM_MS = 20_000;
const MS_PER_SECOND = 1000;

export interface IssuedTokens {
  readonly accessToken: string;
  readonly refreshToken: string | null;
  /** According to the issuer. Milliseconds since 1970; infinite if it does not say. */
  readonly expiresAt: number;
}

export type RenewableTokens = IssuedTokens & { readonly refreshToken: string };

/** The issuers at which people sign in. */
export interface TokenIssuers {
  /**
   * @returns `null` if the issuer rejects the refresh token, and for an unknown issuer.
   * @throws Error if the issuer does not answer, or its response is invalid.
   */
  renew(issuer: string, refreshToken: string): Promise<IssuedTokens | null>;
  /** Revokes a refresh token where the issuer can. Never rejects. */
  revoke(issuer: string, refreshToken: string): Promise<void>;
}

interface RenewalOptions {
  readonly stored: StoredSessions;
  readonly issuers: TokenIssuers;
  /** The clock. Milliseconds since 1970. */
  readonly now: () => number;
}

/** Renews the tokens of sessions. Of all processes, one renews the token of a session. */
export class TokenRenewal {
  readonly #options: RenewalOptions;
  readonly #running = new Map<string, Promise<SessionRecord | null>>();

  constructor(options: RenewalOptions) {
    this.#options = options;
  }

  /**
   * @param tried the record with the token that is replaced
   * @returns the record with the new token; `null` if the session has to end.
   * @throws SurfaceError `unavailable` without a new token within 5 s.
   */
  async renew(key: string, tried: SessionRecord, cookie: string): Promise<SessionRecord | null> {
    let running = this.#running.get(key);
    if (running === undefined) {
      running = this.#run(key, tried, cookie).finally(() => this.#running.delete(key));
      this.#running.set(key, running);
    }
    const timeout = new AbortController();
    const late = wait(MAX_WAIT_MS, undefined, { signal: timeout.signal }).then(() => {
      throw createUnavailable();
    });
    // They may fail when no request waits for them any more.
    late.catch(() => {});
    running.catch(() => {});
    try {
      return await Promise.race([running, late]);
    } finally {
      timeout.abort();
    }
  }

  /** Waits for a renewal of this process. */
  async settle(key: string): Promise<void> {
    await this.#running.get(key)?.catch(() => null);
  }

  async #run(key: string, tried: SessionRecord, cookie: string): Promise<SessionRecord | null> {
    const { stored, now } = this.#options;
    const startedAt = performance.now();
    while (performance.now() - startedAt < MAX_WAIT_MS) {
      const current = await stored.read(key);
      // Another process has ended the session, or renewed its token.
      if (current === null || current.record.token !== tried.token) return current?.record ?? null;
      const { record } = current;
      if (record.renewal === undefined) return null;
      if (isClaimed(record.renewal, now())) {
        await wait(POLL_MS);
        continue;
      }
      const renewal = { ...record.renewal, claimedUntil: now() + CLAIM_MS };
      if (await stored.replace(current, { ...record, renewal })) {
        return this.#ask(key, renewal, cookie);
      }
    }
    throw createUnavailable();
  }

  async #ask(key: string, renewal: Renewal, cookie: string): Promise<SessionRecord | null> {
    const { stored, issuers, now } = this.#options;
    const refreshToken = decryptRefreshToken(renewal, cookie);
    if (refreshToken === null) return null;
    let tokens: IssuedTokens | null;
    try {
      tokens = await issuers.renew(renewal.issuer, refreshToken);
    } catch (error) {
      const release = { ...renewal, claimedUntil: 0 };
      await stored.update(key, (record) => ({ ...record, renewal: release }));
      throw createUnavailable(error);
    }
    if (tokens === null) return null;
    // An issuer that rotates refresh tokens no longer accepts the old one.
    const issued = { ...tokens, refreshToken: tokens.refreshToken ?? refreshToken };
    const changed = {
      token: encryptToken(tokens.accessToken, cookie),
      renewal: createRenewal(renewal.issuer, issued, cookie, now()),
    };
    const updated = await stored.update(key, (record) => ({ ...record, ...changed }));
    // The session ended meanwhile, and its sign-out revoked the token before this one.
    if (updated === null) await issuers.revoke(renewal.issuer, issued.refreshToken);
    return updated;
  }
}

/** Returns how the tokens are renewed. */
export function createRenewal(
  issuer: string,
  { accessToken, refreshToken, expiresAt }: RenewableTokens,
  cookie: string,
  now: number,
): Renewal {
  // A record is JSON, which cannot represent infinity.
  const known = Math.min(expiresAt, readTokenExpiry(accessToken), Number.MAX_SAFE_INTEGER);
  const end = Math.floor(known);
  return {
    issuer,
    token: encryptRefreshToken(refreshToken, cookie),
    expiresAt: end,
    dueAt: Math.ceil(renewalOf(end, Math.max(0, end - now))),
    claimedUntil: 0,
  };
}

/**
 * The expiry of a signed token in milliseconds since 1970; infinite for any other token. The
 * authenticators decide whether the token is valid.
 */
export function readTokenExpiry(token: string): number {
  const [, payload, , ...rest] = token.split('.');
  if (payload === undefined || rest.length > 0) return Number.POSITIVE_INFINITY;
  try {
    const { exp } = JSON.parse(Buffer.from(payload, 'base64url').toString('utf8')) as {
      readonly exp?: unknown;
    };
    if (typeof exp === 'number' && Number.isFinite(exp)) return exp * MS_PER_SECOND;
  } catch {
    // An opaque token with two dots.
  }
  return Number.POSITIVE_INFINITY;
}

/** A claim from before the clock was set back is ignored. */
function isClaimed({ claimedUntil }: Renewal, now: number): boolean {
  return claimedUntil > now && claimedUntil <= now + CLAIM_MS;
}

function createUnavailable(cause?: unknown): SurfaceError {
  return new SurfaceError('unavailable', 'the issuer does not renew the token of the session', {
    cause,
    nextActions: ['try again later'],
    headers: { 'retry-after': '5' },
  });
}
