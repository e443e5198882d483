import { createPrivateKey, type JsonWebKey, type KeyObject, webcrypto } from 'node:crypto';
import type { PrivateKey } from 'openid-client';

const MIN_RSA_BITS = 2_048;

interface KeyAlgorithm {
  /** `alg` of the assertions. */
  readonly name: string;
  readonly webCrypto: {
    readonly name: string;
    readonly hash?: string;
    readonly namedCurve?: string;
  };
}

const RSA = (name: string, webCryptoName: string): KeyAlgorithm => ({
  name,
  webCrypto: { name: webCryptoName, hash: `SHA-${name.slice(2)}` },
});
const EC = (name: string, namedCurve: string): KeyAlgorithm => ({
  name,
  webCrypto: { name: 'ECDSA', namedCurve },
});

const PKCS1 = 'RSASSA-PKCS1-v1_5';
/** The first one is the default for a JWK without `alg`. */
const OF_RSA: readonly KeyAlgorithm[] = [
  ...['RS256', 'RS384', 'RS512'].map((name) => RSA(name, PKCS1)),
  ...['PS256', 'PS384', 'PS512'].map((name) => RSA(name, 'RSA-PSS')),
];
/** The algorithms by OpenSSL's names of curves. */
const OF_CURVES: Readonly<Record<string, KeyAlgorithm>> = {
  prime256v1: EC('ES256', 'P-256'),
  secp384r1: EC('ES384', 'P-384'),
  secp521r1: EC('ES512', 'P-521'),
};
const OF_ED25519 = ['EdDSA', 'Ed25519'].map((name) => ({ name, webCrypto: { name: 'Ed25519' } }));

/** The key that signs assertions of a client. */
export interface ClientKey {
  /** `alg` of the assertions. */
  readonly algorithm: string;
  load(): Promise<PrivateKey>;
}

/**
 * Reads a private key, PEM or JWK.
 * @param owner the key of the config, for errors
 * @throws Error for an unusable key; the message does not contain a part of it.
 */
export function readClientKey(text: string, owner = 'auth.oauth2'): ClientKey {
  const jwk = readJwk(text);
  const key = createKey(jwk ?? text);
  const algorithm = chooseAlgorithm(key, jwk?.alg);
  if (key === null || algorithm === null) {
    throw new Error(
      `${owner}.private_key must hold a private key in PEM or as a JWK: RSA of 2048 bits or more, ` +
        'EC (P-256, P-384 or P-521) or Ed25519, with an alg that fits, if any',
    );
  }
  return {
    algorithm: algorithm.name,
    load: async () => {
      const bytes = key.export({ type: 'pkcs8', format: 'der' });
      const { subtle } = webcrypto;
      const loaded = await subtle.importKey('pkcs8', bytes, algorithm.webCrypto, false, ['sign']);
      return { key: loaded, ...(jwk?.kid !== undefined && { kid: jwk.kid }) };
    },
  };
}

interface Jwk extends JsonWebKey {
  readonly kid?: string;
  readonly alg?: string;
}

/** Returns `null` unless the text is a JSON object. */
function readJwk(text: string): Jwk | null {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value !== 'object' || value === null) return null;
    const { kid, alg, ...members } = value as Record<string, unknown>;
    return {
      ...(members as JsonWebKey),
      ...(typeof kid === 'string' && { kid }),
      ...(typeof alg === 'string' && { alg }),
    };
  } catch {
    return null;
  }
}

/** Returns `null` for an unusable key, because the error of OpenSSL may contain a part of it. */
function createKey(source: Jwk | string): KeyObject | null {
  try {
    return typeof source === 'string'
      ? createPrivateKey(source)
      : createPrivateKey({ key: source, format: 'jwk' });
  } catch {
    return null;
  }
}

function chooseAlgorithm(
  key: KeyObject | null,
  requestedName: string | undefined,
): KeyAlgorithm | null {
  const possible = key === null ? [] : listAlgorithms(key);
  if (requestedName === undefined) return possible[0] ?? null;
  return possible.find(({ name }) => name === requestedName) ?? null;
}

function listAlgorithms({
  asymmetricKeyType,
  asymmetricKeyDetails,
}: KeyObject): readonly KeyAlgorithm[] {
  const { modulusLength = 0, namedCurve = '' } = asymmetricKeyDetails ?? {};
  if (asymmetricKeyType === 'rsa') return modulusLength < MIN_RSA_BITS ? [] : OF_RSA;
  if (asymmetricKeyType === 'ed25519') return OF_ED25519;
  const ofCurve = asymmetricKeyType === 'ec' ? OF_CURVES[namedCurve] : undefined;
  return ofCurve === undefined ? [] : [ofCurve];
}
