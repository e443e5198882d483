import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import {
  type CryptoKey,
  exportJWK,
  generateKeyPair,
  type JWTHeaderParameters,
  type JWTPayload,
  SignJWT,
} from 'jose';

export interface SigningKey {
  readonly kid: string;
  readonly algorithm: string;
  readonly privateKey: CryptoKey;
  readonly publicKey: CryptoKey;
  /** The published form. */
  readonly jwk: Readonly<Record<string, unknown>>;
}

export async function createSigningKey(kid: string, algorithm = 'RS256'): Promise<SigningKey> {
  const { privateKey, publicKey } = await generateKeyPair(algorithm, { extractable: true });
  const jwk = { ...(await exportJWK(publicKey)), kid, alg: algorithm, use: 'sig' };
  return { kid, algorithm, privateKey, publicKey, jwk };
}

/** Signs a valid token, except for changes by `claims` and `header`. */
export function signToken(
  key: SigningKey,
  claims: object = {},
  header: Partial<JWTHeaderParameters> = {},
): Promise<string> {
  return new SignJWT(createClaims(claims))
    .setProtectedHeader({ alg: key.algorithm, kid: key.kid, ...header })
    .sign(key.privateKey);
}

/** `undefined` omits a claim. */
export function createClaims(claims: object = {}): JWTPayload {
  const now = Math.floor(Date.now() / 1000);
  return {
    iss: ISSUER,
    aud: 'modgate',
    sub: 'billing',
    scope: 'crm.read',
    iat: now,
    exp: now + 300,
    ...claims,
  };
}

export const ISSUER = 'https://issuer.example';

export interface FakeIssuer {
  /** The URL of its keys. */
  readonly url: string;
  readonly requestCount: number;
  publish(keys: readonly SigningKey[]): void;
  /** Sets how to respond; `null` responds with the published keys. */
  answer(respond: ((response: ServerResponse) => void) | null): void;
  close(): Promise<void>;
}

/** Publishes keys at a URL. Tests can make it misbehave. */
export async function startFakeIssuer(keys: readonly SigningKey[]): Promise<FakeIssuer> {
  let published = keys;
  let respond: ((response: ServerResponse) => void) | null = null;
  let requestCount = 0;
  const server = createServer((_request, response) => {
    requestCount += 1;
    if (respond !== null) return respond(response);
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ keys: published.map(({ jwk }) => jwk) }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/jwks`,
    get requestCount() {
      return requestCount;
    },
    publish: (next) => {
      published = next;
    },
    answer: (next) => {
      respond = next;
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
