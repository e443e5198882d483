import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { canonicalizeValue } from '../contract/canonical-value.js';
import type { StoreKey, StoreKeys } from './encryption-keys.js';
import { type StoreErrorCode, StoreUnavailable } from './store-unavailable.js';

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
  if (keys === null) return { value: text, key_id: null };
  const { id, secret } = keys.primary;
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv('aes-256-gcm', secret, nonce).setAAD(toBytes(context));
  const parts = [nonce, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()];
  return { value: Buffer.concat(parts).toString('base64'), key_id: id };
}

/**
 * Reads a secret. With a key set it must be encrypted: write access to the database must not be enough
 * to replace it.
 * @throws StoreUnavailable for clear text although there is a key, for an unknown key, and for ciphertext
 * that was changed or moved.
 */
export function decrypt(
  { value, key_id }: EncryptedText,
  context: EncryptionContext,
  keys: StoreKeys | null,
): string {
  if (key_id === null) {
    if (keys === null) return value;
    // The command cannot know which of the other values are sensitive by now.
    const remedy = 'run modgate encrypt-store, or write it again if its field was not sensitive';
    throw createError('not_encrypted', context, `is not encrypted: ${remedy}`);
  }
  const key = keys?.byId.get(key_id);
  if (key === undefined) {
    throw createError('unknown_key', context, 'is encrypted with an unknown key');
  }
  try {
    return decryptBytes(Buffer.from(value, 'base64'), context, key);
  } catch {
    throw createError('unreadable', context, 'does not decrypt: it was changed or moved');
  }
}

/** Reads a value that need not be secret, encrypted or in clear. @throws StoreUnavailable as `decrypt`. */
export function decryptOrClear(
  stored: EncryptedText,
  context: EncryptionContext,
  keys: StoreKeys | null,
): string {
  return stored.key_id === null ? stored.value : decrypt(stored, context, keys);
}

function decryptBytes(bytes: Buffer, context: EncryptionContext, key: StoreKey): string {
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
  return Buffer.from(canonicalizeValue(context), 'utf8');
}

function createError(
  code: StoreErrorCode,
  [module = '', ...names]: EncryptionContext,
  problem: string,
): StoreUnavailable {
  const owner = names.length === 0 ? `'${module}'` : `'${names.join('/')}' of module '${module}'`;
  return new StoreUnavailable(code, { message: `the value of ${owner} ${problem}` });
}
