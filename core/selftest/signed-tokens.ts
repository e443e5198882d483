import { createHmac, createSign, generateKeyPairSync, type KeyObject } from 'node:crypto';

export const TOKEN_ISSUER = 'https://selftest.example';
/** An issuer that maps other names to roles. */
export const OTHER_ISSUER = 'https://partner.selftest.example';
export const TOKEN_AUDIENCE = 'modgate-selftest';

const KEY_ID = 'selftest';

/** The issuer of signed tokens, with a new key at each start. */
export interface TokenIssuer {
  readonly key: KeyObject;
  /** The public key as PEM, which a vulnerable host uses as a shared secret. */
  readonly publicPem: string;
  /** The key set of the host. */
  readonly jwks: { readonly keys: readonly object[] };
  /** Returns currently valid claims. */
  claims(): Readonly<Record<string, unknown>>;
}

export function createTokenIssuer(): TokenIssuer {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  return {
    key: privateKey,
    publicPem: publicKey.export({ type: 'spki', format: 'pem' }).toString(),
    jwks: {
      keys: [{ ...publicKey.export({ format: 'jwk' }), kid: KEY_ID, alg: 'RS256', use: 'sig' }],
    },
    claims: () => {
      const now = Math.floor(Date.now() / 1000);
      return {
        iss: TOKEN_ISSUER,
        aud: TOKEN_AUDIENCE,
        sub: 'owner',
        scope: 'shop.use',
        iat: now,
        exp: now + 300,
      };
    },
  };
}

/** The start of the opaque tokens of the other issuer. */
const OPAQUE_PREFIX = 'iss_';

export const ROLES_FILE = {
  roles: {
    buyer: { scopes: ['shop.use'] },
    manager: { scopes: ['shop.locked'], roles: ['buyer'] },
    keeper: { scopes: ['shop.locked'] },
  },
};

/** The name of the role `keeper` at the other issuer. */
export const OTHER_ROLE_NAME = 'partner-keeper';

/**
 * Returns the issuers file. The keys are in `jwks.json` beside it, the secret in `client.secret`.
 * @param signInUrls the issuers of the console
 * @param tokenEndpoints the endpoints that exchange tokens of the first issuer
 */
export function describeIssuers(
  introspectionUrl: string,
  signInUrls: readonly string[],
  tokenEndpoints: readonly string[],
) {
  const actor = { kind: 'service' };
  const signed = {
    audience: TOKEN_AUDIENCE,
    algorithms: ['RS256'],
    jwks: { file: './jwks.json' },
    actor,
  };
  return {
    issuers: [
      {
        ...signed,
        issuer: TOKEN_ISSUER,
        token_endpoints: tokenEndpoints,
        actor: {
          ...actor,
          roles: ['roles'],
          allowed_roles: ['buyer', 'manager'],
          allowed_scopes: ['shop.use'],
        },
      },
      {
        ...signed,
        issuer: OTHER_ISSUER,
        actor: { ...actor, roles: ['roles'], role_values: { [OTHER_ROLE_NAME]: 'keeper' } },
      },
      ...signInUrls.map((url) => ({ ...signed, issuer: url })),
    ],
    introspection: [
      {
        name: 'opaque',
        url: introspectionUrl,
        client_id: 'selftest',
        client_secret: 'file:./client.secret',
        token_format: { prefix: OPAQUE_PREFIX },
        actor,
      },
    ],
  };
}

export const VALID_HEADER = { alg: 'RS256', kid: KEY_ID, typ: 'JWT' };

/** Encodes a header or payload. Text is encoded unchanged, so that it can be invalid JSON. */
export function encodePart(value: object | string): string {
  return Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString(
    'base64url',
  );
}

/** A complete token of the issuer, or of another key with its name. */
export function signClaims(claims: object, key: KeyObject): string {
  const text = `${encodePart(VALID_HEADER)}.${encodePart(claims)}`;
  return `${text}.${signRs256(text, key)}`;
}

export function signRs256(signed: string, key: KeyObject): string {
  return createSign('RSA-SHA256').update(signed).sign(key, 'base64url');
}

export function signHs256(signed: string, secret: string): string {
  return createHmac('sha256', secret).update(signed).digest('base64url');
}
