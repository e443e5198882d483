import { generateKeyPairSync } from 'node:crypto';
import type { Attack } from '../attack.js';
import type { Scene } from '../scene.js';
import {
  joinParts,
  OTHER_ROLE_NAME,
  signClaims,
  signHs256,
  type TokenIssuer,
  VALID_HEADER,
} from '../servers/signed-tokens.js';

type Claims = Readonly<Record<string, unknown>>;

const HOUR = 3600;
const otherKey = generateKeyPairSync('rsa', { modulusLength: 2048 });

/** Headers that must be rejected although the signature is valid. */
const HEADERS: readonly (readonly [name: string, title: string, header: object])[] = [
  ['kid-path', 'a key id that is a path', { kid: '../../../../dev/null' }],
  ['kid-url', 'a key id that is a URL', { kid: 'http://127.0.0.1:9/keys' }],
  ['kid-sql', 'a key id that is SQL', { kid: "x' UNION SELECT 'secret' --" }],
  ['kid-proto', 'the key id __proto__', { kid: '__proto__' }],
  ['kid-list', 'a key id that is a list', { kid: ['selftest'] }],
  ['kid-null', 'a key id that is null', { kid: null }],
  ['kid-long', 'a key id of 4 KiB', { kid: 'k'.repeat(4096) }],
  ['crit', 'a critical extension', { crit: ['exp'], exp: 1 }],
  ['crit-empty', 'an empty list of extensions', { crit: [] }],
  ['b64', 'a payload that is not encoded', { b64: false, crit: ['b64'] }],
  ['zip', 'a payload that is compressed', { zip: 'DEF' }],
  ['nested', 'a token that claims to contain another', { cty: 'JWT' }],
  ['typ-logout', 'a logout token', { typ: 'logout+jwt' }],
  ['typ-dpop', 'a proof of possession', { typ: 'dpop+jwt' }],
  ['typ-list', 'a type that is a list', { typ: ['JWT'] }],
  ['alg-list', 'an algorithm that is a list', { alg: ['RS256'] }],
  ['alg-case', 'an algorithm in another case', { alg: 'rs256' }],
  ['alg-other', 'an algorithm that the issuer does not use', { alg: 'RS512' }],
];

/** Claims that must be rejected although the signature is valid. `undefined` omits a claim. */
const CLAIMS: readonly (readonly [name: string, title: string, claims: (now: number) => Claims])[] =
  [
    ['expired', 'an expired token', (now) => ({ exp: now - HOUR, iat: now - 2 * HOUR })],
    ['no-exp', 'a token without an expiry', () => ({ exp: undefined })],
    ['exp-text', 'an expiry that is a string', (now) => ({ exp: String(now + HOUR) })],
    ['nbf', 'a token before its time', (now) => ({ nbf: now + HOUR })],
    [
      'iat-future',
      'a token issued in the future',
      (now) => ({ iat: now + HOUR, exp: now + 2 * HOUR }),
    ],
    ['iat-old', 'a token issued too long ago', (now) => ({ iat: now - 48 * HOUR })],
    ['no-aud', 'no audience', () => ({ aud: undefined })],
    ['aud', 'another audience', () => ({ aud: 'other' })],
    [
      'aud-list',
      'a list of other audiences',
      () => ({ aud: ['other', 'modgate-selftest.example'] }),
    ],
    ['aud-nested', 'a nested list of audiences', () => ({ aud: [['modgate-selftest']] })],
    ['iss', 'another issuer', () => ({ iss: 'https://other.example' })],
    ['iss-slash', 'the issuer with a trailing slash', () => ({ iss: 'https://selftest.example/' })],
    ['iss-list', 'an issuer that is a list', () => ({ iss: ['https://selftest.example'] })],
    ['no-iss', 'no issuer', () => ({ iss: undefined })],
    ['scope-number', 'scopes that are a number', () => ({ scope: 7 })],
    ['scope-object', 'scopes that are an object', () => ({ scope: { 'shop.use': true } })],
    ['scope-nested', 'a nested list of scopes', () => ({ scope: [['shop.use']] })],
    ['no-sub', 'no subject', () => ({ sub: undefined })],
    [
      'sub-crlf',
      'a subject with a line break',
      () => ({ sub: 'owner\r\nmodgate-actor: system:root' }),
    ],
    ['bound', 'a token bound to a key', () => ({ cnf: { jkt: 'a' } })],
    ['oversize', 'a token of more than 15 KiB', () => ({ padding: 'x'.repeat(11_300) })],
  ];

/** Roles that must not open a route, although the token is valid. */
const ROLES: readonly (readonly [name: string, title: string, roles: readonly string[]])[] = [
  ['made-up', 'roles that a claim makes up', ['keeper', 'shop.locked', '__proto__', '*']],
  ['elsewhere', 'the name that another issuer has for a role', [OTHER_ROLE_NAME]],
  ['bounded', 'a role with a scope that the issuer cannot grant', ['manager']],
];

type MakeToken = (issuer: TokenIssuer) => string;

/** Headers that name a key, which are ignored. */
const OTHER_KEYS: readonly (readonly [name: string, title: string, header: object])[] = [
  ['jku', 'a header with a URL of keys', { jku: 'http://127.0.0.1:9/keys' }],
  ['x5u', 'a header with a URL of a certificate', { x5u: 'http://127.0.0.1:9/cert' }],
  ['x5c', 'a header with a certificate', { x5c: ['MIIB'] }],
];

const TOKENS: readonly (readonly [
  name: string,
  title: string,
  make: MakeToken,
  evidence?: string,
])[] = [
  ...['none', 'None', 'NONE', 'nOnE'].map((alg): readonly [string, string, MakeToken, string] => [
    `alg-${alg}`,
    `the algorithm ${alg}, without a signature`,
    ({ claims }) => `${joinParts({ ...VALID_HEADER, alg }, claims())}.`,
    'CVE-2015-9235',
  ]),
  [
    'none-signed',
    'the algorithm none, with a signature',
    (issuer) => sign(issuer, { ...VALID_HEADER, alg: 'none' }),
  ],
  [
    'confusion',
    'HS256 with the public key as the secret',
    ({ claims, publicPem }) => signHs256(claims(), publicPem),
    'CVE-2016-5431',
  ],
  ['hs-empty', 'HS256 with an empty secret', ({ claims }) => signHs256(claims(), '')],
  ['wrong-key', 'a signature of another key', (issuer) => signWithOtherKey(issuer, VALID_HEADER)],
  [
    'no-kid',
    'a signature of another key without a key id',
    (issuer) => signWithOtherKey(issuer, { alg: 'RS256' }),
  ],
  [
    'jwk',
    'a header with its own key',
    (issuer) => {
      const jwk = otherKey.publicKey.export({ format: 'jwk' });
      return signWithOtherKey(issuer, { ...VALID_HEADER, jwk });
    },
    'CVE-2018-0114',
  ],
  ...OTHER_KEYS.map(([name, title, header]): readonly [string, string, MakeToken] => [
    name,
    `${title}, and a signature of another key`,
    (issuer) => signWithOtherKey(issuer, { ...VALID_HEADER, ...header }),
  ]),
  ['cut', 'a truncated signature', (issuer) => sign(issuer).slice(0, -8)],
  ['empty', 'an empty signature', ({ claims }) => `${joinParts(VALID_HEADER, claims())}.`],
  ['unsigned', 'only two parts', ({ claims }) => joinParts(VALID_HEADER, claims())],
  ['four-parts', 'four parts', (issuer) => `${sign(issuer)}.e30`],
  ['five-parts', 'the form of an encrypted token', (issuer) => `${sign(issuer)}.e30.e30`],
  [
    'exchanged',
    'the signature of another token',
    (issuer) => {
      const signature = sign(issuer).split('.')[2] ?? '';
      return `${joinParts(VALID_HEADER, { ...issuer.claims(), sub: 'root' })}.${signature}`;
    },
  ],
  [
    'twice-header',
    'a duplicate algorithm',
    (issuer) => sign(issuer, '{"alg":"none","alg":"RS256","kid":"selftest"}'),
  ],
  [
    'twice-claim',
    'a duplicate issuer',
    (issuer) =>
      sign(issuer, VALID_HEADER, JSON.stringify(issuer.claims()).replace('{', '{"iss":"other",')),
  ],
  ['no-json', 'claims that are not JSON', (issuer) => sign(issuer, VALID_HEADER, 'owner')],
  ['list', 'claims that are a list', (issuer) => sign(issuer, VALID_HEADER, '[]')],
];

export const JWT_CASES: readonly Attack[] = [
  {
    id: 'jwt-good',
    title: 'a valid token is accepted',
    send: ({ issuer }) => ({ token: sign(issuer) }),
    forwarded: () => null,
  },
  ...TOKENS.map(([name, title, make, evidence]) => ({
    ...reject(name, title, make),
    ...(evidence !== undefined && { evidence }),
  })),
  ...HEADERS.map(([name, title, header]) =>
    reject(name, title, (issuer) => sign(issuer, { ...VALID_HEADER, ...header })),
  ),
  {
    id: 'jwt-role-good',
    title: 'a role of a claim gives its scopes',
    send: (scene) => ({ token: signRoles(scene.issuer, ['manager']) }),
    forwarded: () => null,
  },
  ...ROLES.map(
    ([name, title, roles]): Attack => ({
      id: `jwt-role-${name}`,
      title,
      send: (scene) => {
        const token = signRoles(scene.issuer, roles);
        return { token, target: `${scene.base}/locked` };
      },
      rejected: 403,
    }),
  ),
  ...CLAIMS.map(([name, title, claims]) =>
    reject(name, title, (issuer) => {
      const now = Math.floor(Date.now() / 1000);
      return sign(issuer, VALID_HEADER, { ...issuer.claims(), ...claims(now) });
    }),
  ),
];

function reject(name: string, title: string, make: MakeToken): Attack {
  const send = ({ issuer }: Scene) => ({ token: make(issuer) });
  return { id: `jwt-${name}`, title, send, rejected: 401 };
}

function sign(
  { claims, key }: TokenIssuer,
  header: object | string = VALID_HEADER,
  changed: object | string = claims(),
): string {
  return signClaims(changed, key, header);
}

function signRoles(issuer: TokenIssuer, roles: readonly string[]): string {
  return sign(issuer, VALID_HEADER, { ...issuer.claims(), scope: undefined, roles });
}

function signWithOtherKey({ claims }: TokenIssuer, header: object): string {
  return signClaims(claims(), otherKey.privateKey, header);
}
