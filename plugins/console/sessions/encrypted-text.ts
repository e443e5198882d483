import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';

const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/**
 * Encrypts with a key that is derived from a secret of at least 256 bits.
 * @param purpose the purpose of the text: it selects the key, and is authenticated too
 */
export function encryptText(text: string, secret: Uint8Array, purpose: string): string {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv('aes-256-gcm', deriveKey(secret, purpose), nonce);
  cipher.setAAD(Buffer.from(purpose));
  const parts = [nonce, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()];
  return Buffer.concat(parts).toString('base64url');
}

/** Returns `null` for a text that was not encrypted with this secret and for this purpose. */
export function decryptText(encrypted: string, secret: Uint8Array, purpose: string): string | null {
  const bytes = Buffer.from(encrypted, 'base64url');
  if (bytes.length < NONCE_BYTES + TAG_BYTES) return null;
  const options = { authTagLength: TAG_BYTES };
  const nonce = bytes.subarray(0, NONCE_BYTES);
  const decipher = createDecipheriv('aes-256-gcm', deriveKey(secret, purpose), nonce, options)
    .setAAD(Buffer.from(purpose))
    .setAuthTag(bytes.subarray(-TAG_BYTES));
  try {
    const text = decipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES));
    return Buffer.concat([text, decipher.final()]).toString('utf8');
  } catch {
    return null;
  }
}

function deriveKey(secret: Uint8Array, purpose: string): Uint8Array {
  return new Uint8Array(hkdfSync('sha256', secret, '', purpose, KEY_BYTES));
}
