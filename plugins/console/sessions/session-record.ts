import { createHash, randomBytes } from 'node:crypto';
import { define, enums, type Infer, is, object, string } from 'superstruct';
import { ACTOR_KINDS } from '../../../core/contract/index.js';
import { decryptText, encryptText } from './encrypted-text.js';

const SECRET_BYTES = 32;
const ID_BYTES = 16;
const COOKIE = /^[A-Za-z0-9_-]{43}$/;
const PURPOSE = 'modgate console session';
const PREFIX = 'session:';

/** How people signed in. */
const SIGN_IN_KINDS = ['token', 'developer', 'oidc'] as const;
export type SignInKind = (typeof SIGN_IN_KINDS)[number];

const time = define<number>('time', (value) => Number.isSafeInteger(value));

const sessionRecord = object({
  /** Shown in lists; it is neither the cookie nor derived from it. */
  id: string(),
  actor: object({ kind: enums(ACTOR_KINDS), id: string() }),
  via: enums(SIGN_IN_KINDS),
  /** All in milliseconds since 1970. */
  createdAt: time,
  usedAt: time,
  /** When the authenticators last knew the token. */
  verifiedAt: time,
  /** The latest end, however much it is used. */
  endsAt: time,
  /** The token, encrypted with a key derived from the cookie. */
  token: string(),
});

/** What the store holds of a session: nothing of it reveals the token or the cookie. */
export type SessionRecord = Infer<typeof sessionRecord>;

/** The value of a new cookie: 256 random bits. */
export function createCookieValue(): string {
  return randomBytes(SECRET_BYTES).toString('base64url');
}

export function createSessionId(): string {
  return `ses_${randomBytes(ID_BYTES).toString('base64url')}`;
}

/** The key of the record of a cookie; `null` for a value that no session has. */
export function recordKey(cookie: string): string | null {
  if (!COOKIE.test(cookie)) return null;
  return `${PREFIX}${createHash('sha256').update(cookie).digest('hex')}`;
}

export const SESSION_PREFIX = PREFIX;

export function parseSessionRecord(value: unknown): SessionRecord | null {
  return is(value, sessionRecord) ? value : null;
}

export function encryptToken(token: string, cookie: string): string {
  return encryptText(token, Buffer.from(cookie, 'base64url'), PURPOSE);
}

export function decryptToken({ token }: SessionRecord, cookie: string): string | null {
  return decryptText(token, Buffer.from(cookie, 'base64url'), PURPOSE);
}
