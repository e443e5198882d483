import {
  createPrivateKey,
  generateKeyPairSync,
  type JsonWebKey,
  type KeyObject,
} from 'node:crypto';

export interface StoredKey {
  readonly kid: string;
  /** Milliseconds since 1970. */
  readonly createdAt: number;
  readonly jwk: JsonWebKey;
}

/** Providers verify tokens with this key. */
export interface PublicKey {
  readonly kty: string;
  readonly crv: string;
  readonly x: string;
  readonly kid: string;
  readonly alg: 'EdDSA';
  readonly use: 'sig';
}

export async function createKey(createdAt: number): Promise<StoredKey> {
  const jwk = generateKeyPairSync('ed25519').privateKey.export({ format: 'jwk' });
  // Imported here, once per rotation, so that startup does not load it.
  const { calculateJwkThumbprint } = await import('jose');
  // Only the public members (RFC 7638).
  const kid = await calculateJwkThumbprint({ kty: 'OKP', crv: 'Ed25519', x: String(jwk.x) });
  return { kid, createdAt, jwk };
}

/** Copies public members by name, so that nothing else can leak. */
export function publishKey({ kid, jwk }: StoredKey): PublicKey {
  return { kty: 'OKP', crv: 'Ed25519', x: String(jwk.x), kid, alg: 'EdDSA', use: 'sig' };
}

/** @throws Error for an invalid key. */
export function readPrivateKey({ jwk }: StoredKey): KeyObject {
  return createPrivateKey({ key: jwk, format: 'jwk' });
}
