import {
  createPrivateKey,
  generateKeyPairSync,
  type JsonWebKey,
  type KeyObject,
} from 'node:crypto';

/** One key of this host, as it is kept. */
export interface KeptKey {
  readonly kid: string;
  /** Milliseconds since 1970. */
  readonly createdAt: number;
  /** Private. */
  readonly jwk: JsonWebKey;
}

/** What providers verify with. */
export interface PublicKey {
  readonly kty: string;
  readonly crv: string;
  readonly x: string;
  readonly kid: string;
  readonly alg: 'EdDSA';
  readonly use: 'sig';
}

export async function createKey(createdAt: number): Promise<KeptKey> {
  const jwk = generateKeyPairSync('ed25519').privateKey.export({ format: 'jwk' });
  // Imported when it is needed, which is once a rotation: it costs every start otherwise.
  const { calculateJwkThumbprint } = await import('jose');
  // Of the public members alone (RFC 7638).
  const kid = await calculateJwkThumbprint({ kty: 'OKP', crv: 'Ed25519', x: String(jwk.x) });
  return { kid, createdAt, jwk };
}

/** Member by member: whatever else a kept key holds stays here. */
export function publishKey({ kid, jwk }: KeptKey): PublicKey {
  return { kty: 'OKP', crv: 'Ed25519', x: String(jwk.x), kid, alg: 'EdDSA', use: 'sig' };
}

/** @throws Error for what is no key. */
export function readPrivateKey({ jwk }: KeptKey): KeyObject {
  return createPrivateKey({ key: jwk, format: 'jwk' });
}
