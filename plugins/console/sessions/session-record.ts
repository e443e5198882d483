import { createHash, randomBytes } from 'node:crypto';
import { define, enums, type Infer, is, object, optional, string } from 'superstruct';
import { ACTOR_KINDS, type Actor } from '../../../core/contract/index.js';
import { decryptText, encryptText } from './encrypted-text.js';

/**
 * The number of bytes of a cookie that identify the actor, so that its sessions are found without
 * the others.
 */
const ACTOR_BYTES = 6;
const RANDOM_BYTES = 26;
/** The length in base64url, where 6 bytes are 8 characters. */
const ACTOR_LENGTH = 8;
const ID_BYTES = 16;
const COOKIE = /^[A-Za-z0-9_-]{43}$/;
const PURPOSE = 'modgate console session';
const REFRESH_PURPOSE = 'modgate console refresh';
export const SESSION_PREFIX = 'session:';

/** The ways to sign in. */
const SIGN_IN_KINDS = ['token', 'developer', 'oidc'] as const;
export type SignInKind = (typeof SIGN_IN_KINDS)[number];

const time = define<number>('time', (value) => Number.isSafeInteger(value));

const sessionRecord = object({
  /** Shown in lists; neither the cookie nor derived from it. */
  id: string(),
  actor: object({ kind: enums(ACTOR_KINDS), id: string() }),
  via: enums(SIGN_IN_KINDS),
  /** All times are in milliseconds since 1970. */
  createdAt: time,
  usedAt: time,
  /** The last time that the authenticators accepted the token. */
  verifiedAt: time,
  /** The latest end, regardless of use. */
  endsAt: time,
  /** The token, encrypted with a key derived from the cookie. */
  token: string(),
  /** How the token is renewed, if a refresh token came with it. */
  renewal: optional(
    object({
      issuer: string(),
      /** The refresh token, encrypted like the token. */
      token: string(),
      expiresAt: time,
      /** The time from which the token is renewed. */
      dueAt: time,
      /** Until this time only one process may renew the token; 0 for none. */
      claimedUntil: time,
    }),
  ),
});

/** The stored session, which reveals neither the token nor the cookie. */
export type SessionRecord = Infer<typeof sessionRecord>;

export type Renewal = NonNullable<SessionRecord['renewal']>;

type ActorName = Pick<Actor, 'kind' | 'id'>;

/** Creates the value of a new cookie: 208 random bits after a digest of the actor. */
export function createCookieValue(actor: ActorName): string {
  return digestActor(actor) + randomBytes(RANDOM_BYTES).toString('base64url');
}

function digestActor({ kind, id }: ActorName): string {
  const digest = createHash('sha256').update(`${kind}:${id}`).digest();
  return digest.subarray(0, ACTOR_BYTES).toString('base64url');
}

export function createSessionId(): string {
  return `ses_${randomBytes(ID_BYTES).toString('base64url')}`;
}

/** Returns the key of the record of a cookie; `null` for an invalid value. */
export function recordKey(cookie: string): string | null {
  if (!COOKIE.test(cookie)) return null;
  const actor = cookie.slice(0, ACTOR_LENGTH);
  return `${SESSION_PREFIX}${actor}:${createHash('sha256').update(cookie).digest('hex')}`;
}

/**
 * Returns the prefix of the keys of an actor's sessions. Another actor may have the same prefix.
 */
export function actorPrefix(actor: ActorName): string {
  return `${SESSION_PREFIX}${digestActor(actor)}:`;
}

export function parseSessionRecord(value: unknown): SessionRecord | null {
  return is(value, sessionRecord) ? value : null;
}

export function encryptToken(token: string, cookie: string): string {
  return encryptText(token, Buffer.from(cookie, 'base64url'), PURPOSE);
}

export function decryptToken({ token }: SessionRecord, cookie: string): string | null {
  return decryptText(token, Buffer.from(cookie, 'base64url'), PURPOSE);
}

export function encryptRefreshToken(token: string, cookie: string): string {
  return encryptText(token, Buffer.from(cookie, 'base64url'), REFRESH_PURPOSE);
}

export function decryptRefreshToken({ token }: Renewal, cookie: string): string | null {
  return decryptText(token, Buffer.from(cookie, 'base64url'), REFRESH_PURPOSE);
}
