import { createHash, randomBytes } from 'node:crypto';
import { enums, is, object, string } from 'superstruct';
import type { SurfaceRecords } from '../../../core/contract/index.js';
import { decryptText, encryptText } from '../sessions/encrypted-text.js';
import {
  createOidcCookie,
  formatCookie,
  listOidcCookies,
  readCookie,
} from '../sessions/session-cookie.js';

/** The state of a sign-in at an issuer. */
export interface PendingSignIn {
  readonly issuer: string;
  readonly state: string;
  readonly nonce: string;
  readonly verifier: string;
  /** The path for the response of the issuer. */
  readonly callback: string;
  readonly page: string;
  readonly expiresAt: number;
}

const PURPOSE = 'modgate console oidc';
const KEY_BYTES = 32;
const KEY_PREFIX = 'oidc-key:';
const DAY_MS = 24 * 3_600_000;
const STATE_BYTES = 32;
/** The length of a part of a digest that names a cookie. */
const ID_LENGTH = 16;
const TIME_RADIX = 36;
/** The time at the end of a state. */
const STATE_TIME = /-([0-9a-z]{8,9})$/;
/**
 * The maximum number of pending sign-ins of a browser, and of their characters: under https the
 * browser sends them with every request, and proxies limit the length of a header.
 */
const [MAX_PENDING, MAX_PENDING_LENGTH] = [8, 6144];

/** Seconds. */
export const PENDING_SECONDS = 600;

const pendingSignIn = object({
  issuer: string(),
  nonce: string(),
  verifier: string(),
  callback: string(),
  page: string(),
  version: enums(['2']),
});

/** Creates a state with its time, which distinguishes a late response from an unrelated one. */
export function createState(): string {
  return `${randomBytes(STATE_BYTES).toString('base64url')}-${Date.now().toString(TIME_RADIX)}`;
}

/** Whether the sign-in of a state took too long. */
export function isLate(state: string): boolean {
  const [, time] = STATE_TIME.exec(state) ?? [];
  if (time === undefined) return false;
  return Date.now() - Number.parseInt(time, TIME_RADIX) >= PENDING_SECONDS * 1000;
}

/**
 * The cookies of pending sign-ins, one for each, so that a browser can have several. They are encrypted
 * with a daily key, which all processes share: the sign-in itself is not stored.
 */
export class OidcCookies {
  readonly #records: SurfaceRecords;

  constructor(records: SurfaceRecords) {
    this.#records = records;
  }

  /**
   * @param header the cookies of the request
   * @returns the values of `set-cookie`: the new cookie, and those that remove the oldest ones.
   */
  async begin(
    pending: Omit<PendingSignIn, 'expiresAt'>,
    origin: string,
    header: string | null,
  ): Promise<string[]> {
    const value = await this.encrypt(pending);
    const kind = createOidcCookie(idOf(pending.state));
    const before = listOidcCookies(origin, header).sort((a, b) => expiryOf(b) - expiryOf(a));
    let left = MAX_PENDING_LENGTH - value.length;
    const removed = before.filter((cookie, index) => {
      left -= cookie.value.length;
      return index + 1 >= MAX_PENDING || left < 0;
    });
    return [
      formatCookie(kind, origin, value, PENDING_SECONDS),
      ...removed.map(({ id }) => formatCookie(createOidcCookie(id), origin, '', 0)),
    ];
  }

  /** Returns `null` without a pending sign-in of this state. @param header the cookies of the request */
  async find(state: string, origin: string, header: string | null): Promise<PendingSignIn | null> {
    const cookie = readCookie(createOidcCookie(idOf(state)), origin, header);
    return cookie === null ? null : this.decrypt(cookie, state);
  }

  /** @returns the value of `set-cookie`. */
  end(state: string, origin: string): string {
    return formatCookie(createOidcCookie(idOf(state)), origin, '', 0);
  }

  async encrypt({ state, ...content }: Omit<PendingSignIn, 'expiresAt'>): Promise<string> {
    const now = Date.now();
    const name = String(Math.floor(now / DAY_MS));
    const key = await this.#ensureKey(name, now);
    const text = JSON.stringify({ ...content, version: '2' });
    const expiry = String(now + PENDING_SECONDS * 1000);
    return `${name}.${expiry}.${encryptText(text, key, purposeOf(state, expiry))}`;
  }

  /** Returns `null` for an invalid cookie, for one of another state, and for an expired one. */
  async decrypt(cookie: string, state: string): Promise<PendingSignIn | null> {
    const [name = '', expiry = '', encrypted = '', ...rest] = cookie.split('.');
    const expiresAt = Number(expiry);
    const isPlain = /^\d{1,6}$/.test(name) && /^\d{1,15}$/.test(expiry) && rest.length === 0;
    if (!isPlain || expiresAt <= Date.now()) return null;
    const key = await this.#readKey(name);
    const text = key && decryptText(encrypted, key, purposeOf(state, expiry));
    const value: unknown = text === null ? null : JSON.parse(text);
    return is(value, pendingSignIn) ? { ...value, state, expiresAt } : null;
  }

  async #ensureKey(name: string, now: number): Promise<Uint8Array> {
    const key = await this.#readKey(name);
    if (key !== null) return key;
    const created = randomBytes(KEY_BYTES);
    const options = { expiresAt: now + 2 * DAY_MS, only: 'absent' } as const;
    const value = created.toString('base64url');
    if (await this.#records.set(`${KEY_PREFIX}${name}`, value, options)) return created;
    // Another process has created the key first.
    return (await this.#readKey(name)) ?? created;
  }

  async #readKey(name: string): Promise<Uint8Array | null> {
    const value = (await this.#records.get(`${KEY_PREFIX}${name}`))?.value;
    return typeof value === 'string' ? Buffer.from(value, 'base64url') : null;
  }
}

/** A cookie is readable only together with its state. */
function purposeOf(state: string, expiry: string): string {
  return `${PURPOSE} ${expiry} ${idOf(state)}`;
}

function idOf(state: string): string {
  return createHash('sha256').update(state).digest('base64url').slice(0, ID_LENGTH);
}

/** The unverified expiry of a cookie; 0 without one. */
function expiryOf({ value }: { readonly value: string }): number {
  return Number(/^\d+\.(\d{1,15})\./.exec(value)?.[1] ?? 0);
}
