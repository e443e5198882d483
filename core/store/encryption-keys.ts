import { createHmac, createSecretKey, type KeyObject } from 'node:crypto';
import { ConfigError } from '../errors.js';

export const STORE_KEY_VARIABLE = 'MODGATE_STORE_KEY';

const KEY_BYTES = 32;
const HEX_KEY = /^[0-9a-f]{64}$/i;
// 43 digits and one padding character, in either alphabet of RFC 4648.
const BASE64_KEY = /^(?:[A-Za-z0-9+/]{43}|[A-Za-z0-9_-]{43})=?$/;
const KEY_ID_DIGITS = 16;

/** A key of AES-256-GCM. A KeyObject never prints its bytes. */
export interface StoreKey {
  /** Stored beside the ciphertext. 16 hex digits that reveal nothing about the key. */
  readonly id: string;
  readonly secret: KeyObject;
}

/** The first encrypts, all decrypt. */
export interface StoreKeys {
  readonly primary: StoreKey;
  readonly byId: ReadonlyMap<string, StoreKey>;
}

/**
 * Reads `MODGATE_STORE_KEY`: keys of 32 bytes in hex or base64, separated by commas. Absent or empty: none.
 * @throws ConfigError for an invalid key, naming its position in the list and never the key.
 */
export function parseStoreKeys(text: string | undefined): StoreKeys | null {
  if (text === undefined || text.trim() === '') return null;
  const [primary, ...others] = text.split(',').map((part, index) => parseKey(part.trim(), index));
  if (primary === undefined) return null;
  return { primary, byId: new Map([primary, ...others].map((key) => [key.id, key])) };
}

function parseKey(text: string, index: number): StoreKey {
  const bytes = decodeKey(text);
  if (bytes?.length !== KEY_BYTES) {
    throw new ConfigError(
      `key ${index + 1} of ${STORE_KEY_VARIABLE} must be ${KEY_BYTES} bytes in hex or base64`,
    );
  }
  const id = createHmac('sha256', bytes).update('modgate store key id').digest('hex');
  return { id: id.slice(0, KEY_ID_DIGITS), secret: createSecretKey(bytes) };
}

function decodeKey(text: string): Buffer | null {
  if (HEX_KEY.test(text)) return Buffer.from(text, 'hex');
  return BASE64_KEY.test(text) ? Buffer.from(text, 'base64') : null;
}
