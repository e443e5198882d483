import { createLocalJWKSet, type JSONWebKeySet, type LocalJWKSet } from 'jose';

const MAX_KEYS = 100;

/**
 * The public keys of an issuer. Symmetric keys are left out: nothing here verifies with them.
 * `null` for what is no set of keys, or an empty one, which would lock everybody out.
 */
export function createKeySet(value: unknown): LocalJWKSet | null {
  if (typeof value !== 'object' || value === null || !('keys' in value)) return null;
  const { keys } = value;
  if (!Array.isArray(keys) || keys.length > MAX_KEYS) return null;
  const usable = keys.filter(
    (key) =>
      typeof key === 'object' && key !== null && typeof key.kty === 'string' && key.kty !== 'oct',
  );
  return usable.length === 0 ? null : createLocalJWKSet({ keys: usable } as JSONWebKeySet);
}
