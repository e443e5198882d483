import { randomBytes } from 'node:crypto';
import { enums, is, object, string } from 'superstruct';
import type { SurfaceRecords } from '../../../core/contract/index.js';
import { decryptText, encryptText } from '../sessions/encrypted-text.js';

/** The state of a sign-in at an issuer. */
export interface PendingSignIn {
  readonly issuer: string;
  readonly state: string;
  readonly nonce: string;
  readonly verifier: string;
  /** The path for the response of the issuer. */
  readonly callback: string;
  /** The page to return to. */
  readonly page: string;
  readonly expiresAt: number;
}

const PURPOSE = 'modgate console oidc';
const KEY_BYTES = 32;
const KEY_PREFIX = 'oidc-key:';
const DAY_MS = 24 * 3_600_000;

/** Seconds. */
export const PENDING_SECONDS = 600;

const pendingSignIn = object({
  issuer: string(),
  state: string(),
  nonce: string(),
  verifier: string(),
  callback: string(),
  page: string(),
  version: enums(['1']),
});

/**
 * The cookie of a pending sign-in. It is encrypted with a daily key, which all processes share: the
 * sign-in itself is not stored.
 */
export class OidcCookies {
  readonly #records: SurfaceRecords;

  constructor(records: SurfaceRecords) {
    this.#records = records;
  }

  async encrypt(pending: Omit<PendingSignIn, 'expiresAt'>): Promise<string> {
    const now = Date.now();
    const name = String(Math.floor(now / DAY_MS));
    const key = await this.#ensureKey(name, now);
    const text = JSON.stringify({ ...pending, version: '1' });
    const expiry = String(now + PENDING_SECONDS * 1000);
    return `${name}.${expiry}.${encryptText(text, key, `${PURPOSE} ${expiry}`)}`;
  }

  /** Returns `null` for an invalid cookie, and for an expired one. */
  async decrypt(cookie: string): Promise<PendingSignIn | null> {
    const [name = '', expiry = '', encrypted = '', ...rest] = cookie.split('.');
    const expiresAt = Number(expiry);
    const isPlain = /^\d{1,6}$/.test(name) && /^\d{1,15}$/.test(expiry) && rest.length === 0;
    if (!isPlain || expiresAt <= Date.now()) return null;
    const key = await this.#readKey(name);
    const text = key && decryptText(encrypted, key, `${PURPOSE} ${expiry}`);
    const value: unknown = text === null ? null : JSON.parse(text);
    return is(value, pendingSignIn) ? { ...value, expiresAt } : null;
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
