import type { Secret } from '../contract/index.js';
import { createSecretMask, MASK, type Mask } from '../lib/secrets/mask-secrets.js';
import { decodePercent, ENCODED_LENGTH, ENCODINGS } from '../lib/secrets/percent-forms.js';

/** Headers that hold credentials even if no authenticator reads them. */
const SECRET_HEADERS = ['authorization', 'proxy-authorization', 'cookie', 'modgate-explain-as'];
/** Shorter cookies, such as a language, occur in many paths. */
const MIN_COOKIE_LENGTH = 8;
/** With more credentials, every text counts as one that contains them. */
const MAX_SECRETS = 64;
/** The start of a credential that is searched. */
const SEARCHED_LENGTH = 64;

/**
 * Finds the credentials of a request in texts that are recorded, because a client may write its own
 * into the path, and an error may repeat it. The cost does not depend on the length of either.
 */
export class CredentialFilter {
  readonly #secrets: ReadonlySet<string>;

  /**
   * @param rawHeaders names and values in turn, as sent
   * @param credentialHeaders the headers that authenticators read
   */
  constructor(rawHeaders: readonly string[], credentialHeaders: readonly string[]) {
    this.#secrets = listSecrets(rawHeaders, credentialHeaders);
  }

  /**
   * Whether a credential starts in the recorded part of a text, or soon behind it, in any encoding of
   * a path.
   * @param recordedLength the number of characters from the start that may be recorded
   */
  holdsSecret(text: string, recordedLength: number): boolean {
    if (this.#secrets.size > MAX_SECRETS) return true;
    if (this.#secrets.size === 0) return false;
    let form = text.slice(0, recordedLength + SEARCHED_LENGTH * ENCODED_LENGTH);
    for (let encodings = 0; ; encodings += 1) {
      for (const secret of this.#secrets) if (form.includes(secret)) return true;
      if (encodings === ENCODINGS || !form.includes('%')) return false;
      form = decodePercent(form);
    }
  }
}

/**
 * Creates the mask of what another party has written: it removes the credentials of a request.
 * @param rawHeaders names and values in turn, as sent
 * @param credentialHeaders the headers that authenticators read
 * @param others credentials that the host has obtained for the caller
 */
export function createCredentialMask(
  rawHeaders: readonly string[],
  credentialHeaders: readonly string[],
  others: readonly Secret[],
): Mask {
  const secrets = listSecrets(rawHeaders, credentialHeaders, Number.POSITIVE_INFINITY);
  if (secrets.size > MAX_SECRETS) return () => MASK;
  return createSecretMask([...secrets, ...others.map((secret) => secret.reveal())]);
}

/**
 * The starts of all credentials, as sent and without their scheme. The list ends soon after
 * `MAX_SECRETS`.
 */
function listSecrets(
  raw: readonly string[],
  credentialHeaders: readonly string[],
  maxLength = SEARCHED_LENGTH,
): Set<string> {
  const names = new Set([...SECRET_HEADERS, ...credentialHeaders]);
  const secrets = new Set<string>();
  for (let index = 0; index < raw.length && secrets.size <= MAX_SECRETS; index += 2) {
    const name = (raw[index] ?? '').toLowerCase();
    const value = (raw[index + 1] ?? '').trim();
    if (value === '' || !names.has(name)) continue;
    const found = name === 'cookie' ? listCookies(value) : listCredentials(value);
    for (const secret of found) secrets.add(secret.slice(0, maxLength));
  }
  return secrets;
}

function listCookies(header: string): readonly string[] {
  const values = header.split(';').map((pair) => pair.slice(pair.indexOf('=') + 1).trim());
  return values.filter(({ length }) => length >= MIN_COOKIE_LENGTH);
}

function listCredentials(value: string): readonly string[] {
  const [scheme = '', token = ''] = value.split(/ +/, 2);
  const basic = scheme.toLowerCase() === 'basic' ? splitBasic(token) : [];
  return [value, token, ...basic].filter((text) => text !== '');
}

/** The name with the password, and the password. */
function splitBasic(token: string): readonly string[] {
  const text = Buffer.from(token, 'base64').toString('latin1');
  return [text, text.slice(text.indexOf(':') + 1)];
}
