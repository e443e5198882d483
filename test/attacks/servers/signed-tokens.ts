import { createHmac, createSign, generateKeyPairSync, type KeyObject } from 'node:crypto';

export const TOKEN_ISSUER = 'https://selftest.example';
/** An issuer that maps other names to roles. */
export const OTHER_ISSUER = 'https://partner.selftest.example';
const TOKEN_AUDIENCE = 'modgate-selftest';

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
      const iat = Math.floor(Date.now() / 1000);
      const claims = { iss: TOKEN_ISSUER, aud: TOKEN_AUDIENCE, sub: 'owner', scope: 'shop.use' };
      return { ...claims, iat, exp: iat + 300 };
    },
  };
}

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
 * Returns the issuers file. The keys are in `jwks.json` beside it.
 * @param tokenEndpoints the endpoints that exchange tokens of the first issuer
 */
export function describeIssuers(
  introspectionUrl: string,
  tokenEndpoints: readonly string[],
  clientSecret: string,
) {
  const signed = {
    ...{ audience: TOKEN_AUDIENCE, algorithms: ['RS256'], jwks: { file: './jwks.json' } },
  };
  const actor = { kind: 'service' };
  const roles = { ...actor, roles: ['roles'] };
  const bounds = { allowed_roles: ['buyer', 'manager'], allowed_scopes: ['shop.use'] };
  const client = { client_id: 'selftest', client_secret: clientSecret };
  return {
    issuers: [
      {
        ...{ ...signed, issuer: TOKEN_ISSUER, token_endpoints: tokenEndpoints },
        actor: { ...roles, ...bounds },
      },
      {
        ...{ ...signed, issuer: OTHER_ISSUER },
        actor: { ...roles, role_values: { [OTHER_ROLE_NAME]: 'keeper' } },
      },
    ],
    introspection: [
      {
        ...{ name: 'opaque', url: introspectionUrl, ...client, actor },
        token_format: { prefix: 'iss_' },
      },
    ],
  };
}

export const VALID_HEADER = { alg: 'RS256', kid: KEY_ID, typ: 'JWT' };

/** Joins a header and claims to what is signed. Text is encoded unchanged, so that it can be invalid JSON. */
export function joinParts(header: object | string, claims: object | string): string {
  const parts = [header, claims].map((part) =>
    Buffer.from(typeof part === 'string' ? part : JSON.stringify(part)).toString('base64url'),
  );
  return parts.join('.');
}

/** A complete token of the issuer, or of another key with its name. */
export function signClaims(
  claims: object | string,
  key: KeyObject,
  header: object | string = VALID_HEADER,
): string {
  const text = joinParts(header, claims);
  return `${text}.${createSign('RSA-SHA256').update(text).sign(key, 'base64url')}`;
}

export function signHs256(claims: object, secret: string): string {
  const text = joinParts({ ...VALID_HEADER, alg: 'HS256' }, claims);
  return `${text}.${createHmac('sha256', secret).update(text).digest('base64url')}`;
}

/** Signs a token of another caller with the same scopes. */
export function signNeighbor(issuer: TokenIssuer): string {
  return signClaims({ ...issuer.claims(), sub: 'neighbor' }, issuer.key);
}
