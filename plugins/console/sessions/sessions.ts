import {
  type Actor,
  isSurfaceError,
  type SurfaceCall,
  type SurfaceContext,
  SurfaceError,
} from '../../../core/contract/index.js';
import { describeEnd, type EndReason } from './end-reasons.js';
import {
  actorPrefix,
  createCookieValue,
  createSessionId,
  decryptRefreshToken,
  decryptToken,
  encryptToken,
  recordKey,
  SESSION_PREFIX,
  type SessionRecord,
  type SignInKind,
} from './session-record.js';
import { type StoredSession, StoredSessions } from './stored-sessions.js';
import {
  createRenewal,
  type RenewableTokens,
  readTokenExpiry,
  type TokenIssuers,
  TokenRenewal,
} from './token-renewal.js';

const IDLE_MS = 30 * 60_000;
const MAX_AGE_MS = 8 * 3_600_000;
/** How long a result of the authenticators is valid. */
const VERIFY_MS = 30_000;
/** How long a session stays valid while an authenticator does not respond. */
const UNVERIFIED_MS = 10 * 60_000;
const MAX_PER_ACTOR = 20;
/** How many sessions of others end at once if the store is full. */
const MAX_EVICTED = 100;
/** The maximum number of cached sessions of this process; the store has the others. */
const MAX_KNOWN = 10_000;

/** A currently valid session. */
export interface Session {
  /** The key of its record. */
  readonly key: string;
  readonly record: SessionRecord;
  /** Created by the host. */
  readonly actor: Actor;
  /** The end of the session without further use. Milliseconds since 1970. */
  readonly expiresAt: number;
}

/** The cached values of this process besides the record. */
interface Known {
  readonly actor: Actor;
  /** The last time that the authenticators accepted the token. */
  readonly verifiedAt: number;
  /** The last call of the authenticators. */
  readonly askedAt: number;
  readonly usedAt: number;
}

interface Verification {
  readonly key: string;
  readonly record: SessionRecord;
  readonly cookie: string;
  readonly known: Known | null;
  readonly call: SurfaceCall;
}

export interface SessionsContext extends Pick<SurfaceContext, 'authenticate' | 'records'> {
  readonly host: Pick<SurfaceContext['host'], 'admit'>;
}

export class Sessions {
  readonly #context: SessionsContext;
  readonly #now: () => number;
  readonly #stored: StoredSessions;
  readonly #issuers: TokenIssuers;
  readonly #renewal: TokenRenewal;
  readonly #known = new Map<string, Known>();
  /** The reasons of the last sessions that this process has ended. */
  readonly #ended = new Map<string, EndReason>();
  /** The listeners by the key of the record. */
  readonly #onEnd = new Map<string, Set<(reason: EndReason) => void>>();

  /** @param now the clock. Milliseconds since 1970 */
  constructor(context: SessionsContext, issuers: TokenIssuers, now: () => number = Date.now) {
    this.#context = context;
    this.#now = now;
    this.#issuers = issuers;
    this.#stored = new StoredSessions(context.records, storedUntil);
    this.#renewal = new TokenRenewal({ stored: this.#stored, issuers, now });
  }

  /**
   * Begins a session for a bearer token.
   * @param renewable the tokens of an issuer, if the token is one of them that can be renewed
   * @returns the value of its cookie, always a new one; `null` for an invalid token.
   * @throws SurfaceError `rate_limited`, `unavailable`.
   */
  async begin(
    token: string,
    via: SignInKind,
    call: SurfaceCall,
    renewable: (RenewableTokens & { readonly issuer: string }) | null = null,
  ): Promise<string | null> {
    const actor = await this.#context.authenticate({ scheme: 'bearer', token }, call);
    if (actor === null || actor.kind === 'anonymous') return null;
    await this.#context.host.admit(actor);
    await this.#endOldest(actor, MAX_PER_ACTOR - 1);
    const cookie = createCookieValue(actor);
    const key = recordKey(cookie) ?? '';
    const now = this.#now();
    const tokenEndsAt = Math.min(readTokenExpiry(token), expiryOf(actor));
    const maxEndsAt = now + MAX_AGE_MS;
    const record: SessionRecord = {
      id: createSessionId(),
      actor: { kind: actor.kind, id: actor.id },
      via,
      createdAt: now,
      usedAt: now,
      verifiedAt: now,
      endsAt: renewable === null ? Math.floor(Math.min(maxEndsAt, tokenEndsAt)) : maxEndsAt,
      token: encryptToken(token, cookie),
      ...(renewable !== null && {
        renewal: createRenewal(renewable.issuer, renewable, cookie, now),
      }),
    };
    await this.#storeNew(key, record);
    this.#remember(key, { actor, verifiedAt: now, askedAt: now, usedAt: now });
    // Others may have begun concurrently.
    await this.#endOldest(actor, MAX_PER_ACTOR, key);
    return cookie;
  }

  /**
   * Finds the session of a cookie; returns `null` without one, and for one that has ended.
   * @param isUse whether the request prolongs it
   * @param call the request with the cookie
   * @throws SurfaceError `unavailable` while the store does not respond, or the actor is not known
   * yet.
   */
  async find(cookie: string, isUse: boolean, call: SurfaceCall): Promise<Session | null> {
    const key = recordKey(cookie);
    if (key === null) return null;
    const stored = await this.#stored.read(key);
    if (stored === null) {
      this.#announceEnd(key, 'revoked');
      return null;
    }
    const now = this.#now();
    const record = limitTimes(stored.record, now);
    const cached = this.#findKnown(key, now);
    const usedAt = Math.max(record.usedAt, cached?.usedAt ?? 0);
    if (now >= Math.min(record.endsAt, usedAt + IDLE_MS)) return this.#end(key, 'expired');
    const isFresh =
      cached !== null && now - cached.askedAt < VERIFY_MS && !isDue(record, now, cached.askedAt);
    const verified = isFresh
      ? cached
      : await this.#verify({ key, record, cookie, known: cached, call });
    if (verified === null) return null;
    const update = (latest: SessionRecord): SessionRecord => ({
      ...latest,
      // A token that can be renewed does not end the session.
      ...(latest.renewal === undefined && {
        endsAt: Math.min(latest.endsAt, expiryOf(verified.actor)),
      }),
      usedAt: isUse ? now : Math.max(latest.usedAt, usedAt),
      verifiedAt: verified.verifiedAt,
    });
    this.#remember(key, { ...verified, usedAt: isUse ? now : usedAt });
    const current = isFresh
      ? update(record)
      : await this.#stored.update(key, (latest) => update(limitTimes(latest, now)));
    if (current === null) {
      this.#announceEnd(key, 'revoked');
      return null;
    }
    const expiresAt = Math.min(current.endsAt, current.usedAt + IDLE_MS);
    return { key, record: current, actor: verified.actor, expiresAt };
  }

  /**
   * Whether a session has ended according to its last known state, while the store does not
   * respond.
   */
  hasLapsed({ record, expiresAt }: Session): boolean {
    const now = this.#now();
    return now >= expiresAt || now - record.verifiedAt >= UNVERIFIED_MS;
  }

  /** Ends the session of a cookie, and the refresh token that came with it. */
  async signOut(cookie: string): Promise<void> {
    const key = recordKey(cookie);
    if (key === null) return;
    await this.#renewal.settle(key);
    const renewal = (await this.#stored.read(key))?.record.renewal;
    await this.end(key, 'signed_out');
    const token = renewal && decryptRefreshToken(renewal, cookie);
    if (renewal && token) await this.#issuers.revoke(renewal.issuer, token);
  }

  /** Ends a session. @returns whether it still existed */
  async end(key: string, reason: EndReason): Promise<boolean> {
    const existed = await this.#stored.delete(key);
    if (existed) addNewest(this.#ended, key, reason);
    this.#announceEnd(key, reason);
    return existed;
  }

  /** The reason of the end of a session; `null` if this process has not ended it. */
  findEnd(cookie: string): EndReason | null {
    return this.#ended.get(recordKey(cookie) ?? '') ?? null;
  }

  /**
   * Calls the listener when this process ends the session. @returns a function that removes the
   * listener
   */
  onEnd(key: string, listener: (reason: EndReason) => void): () => void {
    const listeners = this.#onEnd.get(key) ?? new Set();
    this.#onEnd.set(key, listeners.add(listener));
    return () => {
      listeners.delete(listener);
      if (listeners.size === 0) this.#onEnd.delete(key);
    };
  }

  /** Lists the current sessions, oldest first. */
  list(): Promise<readonly StoredSession[]> {
    return this.#list(SESSION_PREFIX);
  }

  async #list(prefix: string): Promise<readonly StoredSession[]> {
    const now = this.#now();
    const sessions = await this.#stored.list(prefix);
    return sessions
      .filter(({ record }) => now < Math.min(record.endsAt, record.usedAt + IDLE_MS))
      .sort((a, b) => a.record.createdAt - b.record.createdAt);
  }

  /**
   * Ends the oldest sessions of an actor.
   * @param most the number of sessions that stay
   * @param newest the key of a session that stays even if the clock was set back
   */
  async #endOldest(actor: Actor, most: number, newest?: string): Promise<void> {
    const sessions = await this.#listOwn(actor);
    const others = sessions.filter(({ key }) => key !== newest);
    for (const { key } of others.slice(0, Math.max(0, sessions.length - most))) {
      await this.end(key, 'revoked');
    }
  }

  async #listOwn({ kind, id }: Pick<Actor, 'kind' | 'id'>): Promise<readonly StoredSession[]> {
    const sessions = await this.#list(actorPrefix({ kind, id }));
    return sessions.filter(({ record }) => record.actor.kind === kind && record.actor.id === id);
  }

  /**
   * Stores a session. If the store is full, others end: the oldest of the actor, otherwise the
   * least used ones.
   */
  async #storeNew(key: string, record: SessionRecord): Promise<void> {
    try {
      await this.#stored.add(key, record);
    } catch (error) {
      if (!isSurfaceError(error) || error.code !== 'unavailable') throw error;
      const sessions = await this.#listOwn(record.actor);
      // Ends several at once, because all sessions must be read.
      const evicted = sessions.length > 0 ? sessions.slice(0, 1) : await this.#listLeastUsed();
      for (const { key } of evicted) await this.end(key, 'revoked');
      await this.#stored.add(key, record);
    }
  }

  async #listLeastUsed(): Promise<readonly StoredSession[]> {
    const all = [...(await this.list())].sort((a, b) => a.record.usedAt - b.record.usedAt);
    return all.slice(0, MAX_EVICTED);
  }

  /** Calls the authenticators again. @returns `null` when the session has ended */
  async #verify(verification: Verification): Promise<Known | null> {
    const { key, record, known } = verification;
    const now = this.#now();
    try {
      const actor = await this.#authenticate(verification, now);
      const isSame = actor?.kind === record.actor.kind && actor.id === record.actor.id;
      if (actor === null || !isSame) return this.#end(key, 'revoked');
      return { actor, verifiedAt: now, askedAt: now, usedAt: now };
    } catch (error) {
      if (!isSurfaceError(error)) throw error;
      const verifiedAt = Math.max(record.verifiedAt, known?.verifiedAt ?? 0);
      if (now - verifiedAt >= UNVERIFIED_MS) return this.#end(key, 'expired');
      // After a restart the scopes are unknown: they could have been withdrawn.
      if (known === null) throw error;
      return { ...known, verifiedAt, askedAt: now };
    }
  }

  /** Renews the token shortly before it expires, and when the authenticators reject it. */
  async #authenticate(
    { key, record, cookie, call }: Verification,
    now: number,
  ): Promise<Actor | null> {
    const { renewal } = record;
    const ask = async (current: SessionRecord | null) => {
      const token = current && decryptToken(current, cookie);
      if (token === null) return null;
      return this.#context.authenticate({ scheme: 'bearer', token }, call, { isKept: true });
    };
    if (renewal === undefined) return ask(record);
    if (!isDue(record, now)) {
      const actor = await ask(record);
      return actor ?? ask(await this.#renewal.renew(key, record, cookie));
    }
    try {
      return await ask(await this.#renewal.renew(key, record, cookie));
    } catch (error) {
      if (!isSurfaceError(error) || now >= renewal.expiresAt) throw error;
      return ask(record);
    }
  }

  async #end(key: string, reason: EndReason): Promise<null> {
    await this.end(key, reason);
    return null;
  }

  #announceEnd(key: string, reason: EndReason): void {
    this.#known.delete(key);
    for (const listener of [...(this.#onEnd.get(key) ?? [])]) listener(reason);
  }

  /** Ignores cached values from before the clock was set back. */
  #findKnown(key: string, now: number): Known | null {
    const cached = this.#known.get(key);
    if (cached === undefined || cached.askedAt <= now) return cached ?? null;
    return { ...cached, ...limitUse(cached, now), askedAt: Number.NEGATIVE_INFINITY };
  }

  #remember(key: string, session: Known): void {
    addNewest(this.#known, key, session);
  }
}

/** Removes the oldest entries beyond `MAX_KNOWN`. */
function addNewest<T>(map: Map<string, T>, key: string, value: T): void {
  map.delete(key);
  map.set(key, value);
  for (const oldest of map.keys()) {
    if (map.size <= MAX_KNOWN) break;
    map.delete(oldest);
  }
}

/** @param end the reason of the end of the session, if it is known */
export function createUnauthenticated(end: EndReason | null): SurfaceError {
  return new SurfaceError('unauthorized', 'a session is required', {
    errors: [{ field: 'cookie', reason: end === null ? 'no session' : describeEnd(end) }],
    nextActions: ['sign in at /console'],
    headers: { 'www-authenticate': 'Session' },
  });
}

/**
 * Adds a margin, because uses are stored at most every 30 s: a session could end too early
 * otherwise.
 */
function storedUntil({ usedAt, endsAt }: SessionRecord): number {
  return Math.min(endsAt, usedAt + IDLE_MS + 2 * VERIFY_MS);
}

/** @param triedAt the last attempt; a failed one is repeated with the next verification */
function isDue({ renewal }: SessionRecord, now: number, triedAt = Number.NEGATIVE_INFINITY) {
  return renewal !== undefined && now >= renewal.dueAt && triedAt < renewal.dueAt;
}

/** Limits the times, so that a clock that was set back extends nothing. */
function limitTimes(record: SessionRecord, now: number): SessionRecord {
  const endsAt = Math.min(record.endsAt, now + MAX_AGE_MS);
  return { ...record, ...limitUse(record, now), endsAt };
}

function limitUse(
  { usedAt, verifiedAt }: Pick<SessionRecord, 'usedAt' | 'verifiedAt'>,
  now: number,
) {
  return { usedAt: Math.min(usedAt, now), verifiedAt: Math.min(verifiedAt, now) };
}

/** Whole milliseconds since 1970. */
function expiryOf({ expiresAt }: Actor): number {
  return Math.floor(expiresAt ?? Number.POSITIVE_INFINITY);
}
