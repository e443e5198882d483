import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import canonicalize from 'canonicalize';
import type { StoreKey, StoreKeys } from './encryption-keys.js';
import { StoreUnavailable } from './store-unavailable.js';

// NIST SP 800-38D 8.2.2: a random nonce of 96 bits, for at most 2^32 encryptions a key; 5.2.1.2: tag of 128.
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** The stored form: in clear, or base64 of nonce, ciphertext and tag. */
export interface EncryptedText {
  readonly value: string;
  /** `null`: in clear. */
  readonly key_id: string | null;
}

/**
 * The owner of a text, such as module, service and key. It is authenticated with the text:
 * ciphertext that was copied to another row cannot be decrypted there.
 */
export type EncryptionContext = readonly string[];

export function encrypt(
  text: string,
  context: EncryptionContext,
  keys: StoreKeys | null,
): EncryptedText {
  return keys === null ? { value: text, key_id: null } : encryptBytes(text, context, keys.primary);
}

/**
 * Reads a secret. With a key set it must be encrypted: write access to the database must not be enough
 * to replace it.
 * @throws StoreUnavailable for clear text although there is a key, for an unknown key, and for ciphertext
 * that was changed or moved.
 */
export function decrypt(
  stored: EncryptedText,
  context: EncryptionContext,
  keys: StoreKeys | null,
): string {
  if (stored.key_id !== null) return decryptWithKey(stored.value, stored.key_id, context, keys);
  if (keys === null) return stored.value;
  const message = `the value of ${describe(context)} is not encrypted: run modgate encrypt-store`;
  throw new StoreUnavailable('not_encrypted', { message });
}

/** Reads a value that need not be secret, encrypted or in clear. @throws StoreUnavailable as `decrypt`. */
export function decryptOrClear(
  stored: EncryptedText,
  context: EncryptionContext,
  keys: StoreKeys | null,
): string {
  return stored.key_id === null ? stored.value : decrypt(stored, context, keys);
}

function decryptWithKey(
  value: string,
  keyId: string,
  context: EncryptionContext,
  keys: StoreKeys | null,
): string {
  const key = keys?.byId.get(keyId);
  if (key === undefined) {
    const message = `the value of ${describe(context)} is encrypted with an unknown key`;
    throw new StoreUnavailable('unknown_key', { message });
  }
  try {
    return decryptBytes(value, context, key);
  } catch {
    const message = `the value of ${describe(context)} does not decrypt: it was changed or moved`;
    throw new StoreUnavailable('unreadable', { message });
  }
}

function encryptBytes(text: string, context: EncryptionContext, key: StoreKey): EncryptedText {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv('aes-256-gcm', key.secret, nonce).setAAD(toBytes(context));
  const parts = [nonce, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()];
  return { value: Buffer.concat(parts).toString('base64'), key_id: key.id };
}

function decryptBytes(value: string, context: EncryptionContext, key: StoreKey): string {
  const bytes = Buffer.from(value, 'base64');
  const nonce = bytes.subarray(0, NONCE_BYTES);
  const options = { authTagLength: TAG_BYTES };
  const decipher = createDecipheriv('aes-256-gcm', key.secret, nonce, options)
    .setAAD(toBytes(context))
    .setAuthTag(bytes.subarray(-TAG_BYTES));
  const text = decipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES));
  return Buffer.concat([text, decipher.final()]).toString('utf8');
}

/** Encodes a list: joined, `a/b` and `c` would equal `a` and `b/c`. */
function toBytes(context: EncryptionContext): Buffer {
  return Buffer.from(canonicalize(context) ?? '', 'utf8');
}

function describe([module = '', ...names]: EncryptionContext): string {
  return names.length === 0 ? `'${module}'` : `'${names.join('/')}' of module '${module}'`;
}
