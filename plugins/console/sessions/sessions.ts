import {
  type Actor,
  isSurfaceError,
  type SurfaceCall,
  type SurfaceContext,
  SurfaceError,
  type SurfaceRecord,
} from '../../../core/contract/index.js';
import {
  actorPrefix,
  createCookieValue,
  createSessionId,
  decryptToken,
  encryptToken,
  parseSessionRecord,
  recordKey,
  SESSION_PREFIX,
  type SessionRecord,
  type SignInKind,
} from './session-record.js';

const IDLE_MS = 30 * 60_000;
const MAX_AGE_MS = 8 * 3_600_000;
/** How long an answer of the authenticators counts. */
const VERIFY_MS = 30_000;
/** How long a session stays valid while an authenticator does not answer. */
const UNVERIFIED_MS = 10 * 60_000;
const MAX_PER_ACTOR = 20;
/** How many sessions of others end at once where the store has no room. */
const MAX_EVICTED = 100;
/** Sessions of this process; the store has the others. */
const MAX_KNOWN = 10_000;

const MS_PER_SECOND = 1000;

/** A session that is valid now. */
export interface Session {
  /** The key of its record. */
  readonly key: string;
  readonly record: SessionRecord;
  /** Made by the host. */
  readonly actor: Actor;
  /** When it ends without further use. Milliseconds since 1970. */
  readonly expiresAt: number;
}

export type EndReason = 'signed_out' | 'expired' | 'revoked';

/** What this process keeps beside the record. */
interface Known {
  readonly actor: Actor;
  /** When the authenticators last knew the token. */
  readonly verifiedAt: number;
  /** When the authenticators were last called. */
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

interface StoredSession {
  readonly key: string;
  readonly record: SessionRecord;
}

export interface SessionsContext extends Pick<SurfaceContext, 'authenticate' | 'records'> {
  readonly host: Pick<SurfaceContext['host'], 'admit'>;
}

/** The sessions of the console. */
export class Sessions {
  readonly #context: SessionsContext;
  readonly #now: () => number;
  readonly #known = new Map<string, Known>();
  /** The listeners by the key of the record. */
  readonly #onEnd = new Map<string, Set<(reason: EndReason) => void>>();

  /** @param now the clock. Milliseconds since 1970 */
  constructor(context: SessionsContext, now: () => number = Date.now) {
    this.#context = context;
    this.#now = now;
  }

  /**
   * Begins a session for a bearer token.
   * @returns the value of its cookie, always a new one; `null` for a token that is not valid.
   * @throws SurfaceError `rate_limited`, `unavailable`.
   */
  async begin(token: string, via: SignInKind, call: SurfaceCall): Promise<string | null> {
    const actor = await this.#context.authenticate({ scheme: 'bearer', token }, call);
    if (actor === null || actor.kind === 'anonymous') return null;
    await this.#context.host.admit(actor);
    await this.#endOldest(actor, MAX_PER_ACTOR - 1);
    const cookie = createCookieValue(actor);
    const key = recordKey(cookie) ?? '';
    const now = this.#now();
    const endsAt = Math.min(
      now + MAX_AGE_MS,
      readTokenExpiry(token) ?? Number.POSITIVE_INFINITY,
      expiryOf(actor),
    );
    const record: SessionRecord = {
      id: createSessionId(),
      actor: { kind: actor.kind, id: actor.id },
      via,
      createdAt: now,
      usedAt: now,
      verifiedAt: now,
      endsAt: Math.floor(endsAt),
      token: encryptToken(token, cookie),
    };
    await this.#storeNew(key, record);
    this.#remember(key, { actor, verifiedAt: now, askedAt: now, usedAt: now });
    // Others may have begun at the same time.
    await this.#endOldest(actor, MAX_PER_ACTOR, key);
    return cookie;
  }

  /**
   * The session of a cookie; `null` if there is none, or it has ended.
   * @param isUse whether this prolongs it
   * @param call the request that the session is used for
   * @throws SurfaceError `unavailable` while the store does not answer, or nothing is known of the actor yet.
   */
  async find(cookie: string, isUse: boolean, call: SurfaceCall): Promise<Session | null> {
    const key = recordKey(cookie);
    if (key === null) return null;
    const stored = parseSessionRecord((await this.#context.records.get(key))?.value ?? null);
    if (stored === null) {
      this.#announceEnd(key, 'revoked');
      return null;
    }
    const now = this.#now();
    const record = limitTimes(stored, now);
    const known = this.#findKnown(key, now);
    const usedAt = Math.max(record.usedAt, known?.usedAt ?? 0);
    if (now >= Math.min(record.endsAt, usedAt + IDLE_MS)) return this.#end(key, 'expired');
    const isFresh = known !== null && now - known.askedAt < VERIFY_MS;
    const verified = isFresh ? known : await this.#verify({ key, record, cookie, known, call });
    if (verified === null) return null;
    const current: SessionRecord = {
      ...record,
      endsAt: Math.min(record.endsAt, expiryOf(verified.actor)),
      usedAt: isUse ? now : usedAt,
      verifiedAt: verified.verifiedAt,
    };
    this.#remember(key, { ...verified, usedAt: current.usedAt });
    if (!isFresh && !(await this.#store(key, current))) return null;
    const expiresAt = Math.min(current.endsAt, current.usedAt + IDLE_MS);
    return { key, record: current, actor: verified.actor, expiresAt };
  }

  /** Whether a session is over by what was last known of it, while the store does not answer. */
  hasLapsed({ record, expiresAt }: Session): boolean {
    const now = this.#now();
    return now >= expiresAt || now - record.verifiedAt >= UNVERIFIED_MS;
  }

  /** Ends a session, if it still exists. @returns whether it did. */
  async end(key: string, reason: EndReason): Promise<boolean> {
    const existed = await this.#context.records.delete(key);
    this.#announceEnd(key, reason);
    return existed;
  }

  /** Calls the listener when this process ends the session. @returns removes the listener. */
  onEnd(key: string, listener: (reason: EndReason) => void): () => void {
    const listeners = this.#onEnd.get(key) ?? new Set();
    this.#onEnd.set(key, listeners.add(listener));
    return () => {
      listeners.delete(listener);
      if (listeners.size === 0) this.#onEnd.delete(key);
    };
  }

  /** Those that have not ended, oldest first. */
  list(): Promise<readonly StoredSession[]> {
    return this.#list(SESSION_PREFIX);
  }

  async #list(prefix: string): Promise<readonly StoredSession[]> {
    const now = this.#now();
    const found = (await this.#context.records.list(prefix)).flatMap(readSession);
    return found
      .filter(({ record }) => now < Math.min(record.endsAt, record.usedAt + IDLE_MS))
      .sort((a, b) => a.record.createdAt - b.record.createdAt);
  }

  /**
   * The oldest sessions of an actor end.
   * @param most how many stay
   * @param newest the key of one that stays, also if the clock was set back
   */
  async #endOldest(actor: Actor, most: number, newest?: string): Promise<void> {
    const sessions = await this.#listOwn(actor);
    const others = sessions.filter(({ key }) => key !== newest);
    for (const { key } of others.slice(0, Math.max(0, sessions.length - most))) {
      await this.end(key, 'revoked');
    }
  }

  async #listOwn({ kind, id }: Pick<Actor, 'kind' | 'id'>): Promise<readonly StoredSession[]> {
    const found = await this.#list(actorPrefix({ kind, id }));
    return found.filter(({ record }) => record.actor.kind === kind && record.actor.id === id);
  }

  /** Where the store has no room, sessions end: the oldest of the actor, otherwise those least used. */
  async #storeNew(key: string, record: SessionRecord): Promise<void> {
    const options = { expiresAt: storedUntil(record) };
    try {
      await this.#context.records.set(key, record, options);
    } catch (error) {
      if (!isSurfaceError(error) || error.code !== 'unavailable') throw error;
      const sessions = await this.#listOwn(record.actor);
      // Several at once, because all sessions have to be read.
      const evicted = sessions.length > 0 ? sessions.slice(0, 1) : await this.#listLeastUsed();
      for (const { key } of evicted) await this.end(key, 'revoked');
      await this.#context.records.set(key, record, options);
    }
  }

  async #listLeastUsed(): Promise<readonly StoredSession[]> {
    const all = [...(await this.list())].sort((a, b) => a.record.usedAt - b.record.usedAt);
    return all.slice(0, MAX_EVICTED);
  }

  /** Asks the authenticators again. @returns `null` when the session has ended. */
  async #verify({ key, record, cookie, known, call }: Verification): Promise<Known | null> {
    const token = decryptToken(record, cookie);
    if (token === null) return this.#end(key, 'revoked');
    const now = this.#now();
    try {
      const credentials = { scheme: 'bearer', token };
      const actor = await this.#context.authenticate(credentials, call, { isKept: true });
      const isSame = actor?.kind === record.actor.kind && actor.id === record.actor.id;
      if (actor === null || !isSame) return this.#end(key, 'revoked');
      return { actor, verifiedAt: now, askedAt: now, usedAt: now };
    } catch (error) {
      if (!isSurfaceError(error)) throw error;
      const verifiedAt = Math.max(record.verifiedAt, known?.verifiedAt ?? 0);
      if (now - verifiedAt >= UNVERIFIED_MS) return this.#end(key, 'expired');
      // After a restart nothing is known of the scopes: they could have been withdrawn.
      if (known === null) throw error;
      return { ...known, verifiedAt, askedAt: now };
    }
  }

  /** @returns false if the session was ended meanwhile. */
  async #store(key: string, record: SessionRecord): Promise<boolean> {
    const options = { expiresAt: storedUntil(record), only: 'present' } as const;
    if (await this.#context.records.set(key, record, options)) return true;
    this.#announceEnd(key, 'revoked');
    return false;
  }

  async #end(key: string, reason: EndReason): Promise<null> {
    await this.end(key, reason);
    return null;
  }

  #announceEnd(key: string, reason: EndReason): void {
    this.#known.delete(key);
    for (const listener of [...(this.#onEnd.get(key) ?? [])]) listener(reason);
  }

  /** What was known before the clock was set back is not fresh. */
  #findKnown(key: string, now: number): Known | null {
    const known = this.#known.get(key);
    if (known === undefined || known.askedAt <= now) return known ?? null;
    return { ...known, ...limitUse(known, now), askedAt: Number.NEGATIVE_INFINITY };
  }

  #remember(key: string, known: Known): void {
    this.#known.delete(key);
    this.#known.set(key, known);
    for (const oldest of this.#known.keys()) {
      if (this.#known.size <= MAX_KNOWN) break;
      this.#known.delete(oldest);
    }
  }
}

export function createUnauthenticated(): SurfaceError {
  return new SurfaceError('unauthorized', 'a session is required', {
    errors: [{ field: 'cookie', reason: 'no session' }],
    nextActions: ['sign in at /console'],
    headers: { 'www-authenticate': 'Session' },
  });
}

/** Uses are stored at most every 30 s: without the margin a session could end that much too early. */
function storedUntil({ usedAt, endsAt }: SessionRecord): number {
  return Math.min(endsAt, usedAt + IDLE_MS + 2 * VERIFY_MS);
}

/** A clock that was set back extends nothing. */
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

function readSession({ key, value }: SurfaceRecord) {
  const record = parseSessionRecord(value);
  return record === null ? [] : [{ key, record }];
}

/**
 * When a signed token expires, in milliseconds since 1970; `null` for any other token. Only to end a session
 * in time: whether the token is valid, the authenticators decide.
 */
function readTokenExpiry(token: string): number | null {
  const [, payload, , ...rest] = token.split('.');
  if (payload === undefined || rest.length > 0) return null;
  try {
    const { exp } = JSON.parse(Buffer.from(payload, 'base64url').toString('utf8')) as {
      readonly exp?: unknown;
    };
    return typeof exp === 'number' && Number.isFinite(exp) ? exp * MS_PER_SECOND : null;
  } catch {
    return null;
  }
}
