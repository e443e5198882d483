import { generateKeyPairSync } from 'node:crypto';
import type { AttackCase } from '../attack-case.js';
import { expectForwarded, expectRejected } from '../expectations.js';
import { craftRequest } from '../request-bytes.js';
import { requireOwn, type Scene } from '../scene.js';
import {
  encodePart,
  GOOD_HEADER,
  signHs256,
  signRs256,
  type TokenIssuer,
} from '../signed-tokens.js';

type Claims = Readonly<Record<string, unknown>>;

const HOUR = 3600;
const stranger = generateKeyPairSync('rsa', { modulusLength: 2048 });

/** What a header may say of the key; the signature is good in all of them but where a key is brought along. */
const HEADERS: readonly (readonly [name: string, title: string, header: object])[] = [
  ['kid-path', 'a key id that is a path', { kid: '../../../../dev/null' }],
  ['kid-url', 'a key id that is a URL', { kid: 'http://127.0.0.1:9/keys' }],
  ['kid-sql', 'a key id that is SQL', { kid: "x' UNION SELECT 'secret' --" }],
  ['kid-proto', 'the key id __proto__', { kid: '__proto__' }],
  ['kid-list', 'a key id that is a list', { kid: ['selftest'] }],
  ['kid-null', 'a key id that is null', { kid: null }],
  ['kid-long', 'a key id of 4 KiB', { kid: 'k'.repeat(4096) }],
  ['jku', 'a header that tells where the keys are', { jku: 'http://127.0.0.1:9/keys' }],
  ['x5u', 'a header that tells where the certificate is', { x5u: 'http://127.0.0.1:9/cert' }],
  ['x5c', 'a header that brings a certificate', { x5c: ['MIIB'] }],
  ['crit', 'an extension that must be understood', { crit: ['exp'], exp: 1 }],
  ['crit-empty', 'an empty list of extensions', { crit: [] }],
  ['b64', 'a payload that is not encoded', { b64: false, crit: ['b64'] }],
  ['zip', 'a payload that is compressed', { zip: 'DEF' }],
  ['nested', 'a token that says it holds another', { cty: 'JWT' }],
  ['typ-logout', 'a logout token', { typ: 'logout+jwt' }],
  ['typ-dpop', 'a proof of possession', { typ: 'dpop+jwt' }],
  ['typ-list', 'a type that is a list', { typ: ['JWT'] }],
  ['alg-list', 'an algorithm that is a list', { alg: ['RS256'] }],
  ['alg-case', 'an algorithm in another case', { alg: 'rs256' }],
  ['alg-other', 'an algorithm that the issuer does not use', { alg: 'RS512' }],
];

/** What the claims may say; the signature is good. `undefined` leaves a claim out. */
const CLAIMS: readonly (readonly [name: string, title: string, claims: (now: number) => Claims])[] =
  [
    ['expired', 'a token past its time', (now) => ({ exp: now - HOUR, iat: now - 2 * HOUR })],
    ['no-exp', 'a token without an end', () => ({ exp: undefined })],
    ['exp-text', 'an end that is a text', (now) => ({ exp: String(now + HOUR) })],
    ['nbf', 'a token before its time', (now) => ({ nbf: now + HOUR })],
    [
      'iat-future',
      'a token made in the future',
      (now) => ({ iat: now + HOUR, exp: now + 2 * HOUR }),
    ],
    ['iat-old', 'a token made too long ago', (now) => ({ iat: now - 48 * HOUR })],
    ['no-aud', 'a token for nobody', () => ({ aud: undefined })],
    ['aud', 'a token for somebody else', () => ({ aud: 'other' })],
    ['aud-list', 'a token for others', () => ({ aud: ['other', 'modgate-selftest.example'] })],
    ['aud-nested', 'an audience within a list', () => ({ aud: [['modgate-selftest']] })],
    ['iss', 'another issuer', () => ({ iss: 'https://other.example' })],
    ['iss-slash', 'the issuer and a slash', () => ({ iss: 'https://selftest.example/' })],
    ['iss-list', 'an issuer that is a list', () => ({ iss: ['https://selftest.example'] })],
    ['no-iss', 'no issuer', () => ({ iss: undefined })],
    ['scope-number', 'scopes that are a number', () => ({ scope: 7 })],
    ['scope-object', 'scopes that are an object', () => ({ scope: { 'shop.use': true } })],
    ['scope-nested', 'scopes within a list of lists', () => ({ scope: [['shop.use']] })],
    ['no-sub', 'a token of nobody', () => ({ sub: undefined })],
    ['sub-crlf', 'an id with a line end', () => ({ sub: 'owner\r\nmodgate-actor: system:root' })],
    ['bound', 'a token that is bound to a key', () => ({ cnf: { jkt: 'a' } })],
    ['oversize', 'a token of 10 KiB', () => ({ padding: 'x'.repeat(7680) })],
  ];

const TOKENS: readonly (readonly [
  name: string,
  title: string,
  make: (issuer: TokenIssuer) => string,
  evidence?: string,
])[] = [
  ...['none', 'None', 'NONE', 'nOnE'].map(
    (alg) =>
      [
        `alg-${alg}`,
        `the algorithm ${alg}, without a signature`,
        (issuer: TokenIssuer) => `${join({ ...GOOD_HEADER, alg }, issuer.claims())}.`,
        'CVE-2015-9235',
      ] as const,
  ),
  [
    'none-signed',
    'the algorithm none, with a signature',
    (issuer) => sign(issuer, { ...GOOD_HEADER, alg: 'none' }),
  ],
  [
    'confusion',
    'HS256 with the public key as the secret',
    (issuer) => {
      const text = join({ ...GOOD_HEADER, alg: 'HS256' }, issuer.claims());
      return `${text}.${signHs256(text, issuer.publicPem)}`;
    },
    'CVE-2016-5431',
  ],
  [
    'hs-empty',
    'HS256 with an empty secret',
    (issuer) => {
      const text = join({ ...GOOD_HEADER, alg: 'HS256' }, issuer.claims());
      return `${text}.${signHs256(text, '')}`;
    },
  ],
  ['wrong-key', 'the signature of another key', (issuer) => signByStranger(issuer, GOOD_HEADER)],
  [
    'no-kid',
    'no key id, and the signature of another key',
    (issuer) => signByStranger(issuer, { alg: 'RS256' }),
  ],
  [
    'jwk',
    'a header that brings its own key',
    (issuer) =>
      signByStranger(issuer, {
        ...GOOD_HEADER,
        jwk: stranger.publicKey.export({ format: 'jwk' }),
      }),
    'CVE-2018-0114',
  ],
  ['cut', 'a signature without its end', (issuer) => sign(issuer).slice(0, -8)],
  ['empty', 'an empty signature', (issuer) => `${join(GOOD_HEADER, issuer.claims())}.`],
  ['unsigned', 'two parts only', (issuer) => join(GOOD_HEADER, issuer.claims())],
  ['four-parts', 'one part more', (issuer) => `${sign(issuer)}.e30`],
  ['five-parts', 'the form of an encrypted token', (issuer) => `${sign(issuer)}.e30.e30`],
  [
    'exchanged',
    'the signature of a token, on other claims',
    (issuer) => {
      const signature = sign(issuer).split('.')[2] ?? '';
      return `${join(GOOD_HEADER, { ...issuer.claims(), sub: 'root' })}.${signature}`;
    },
  ],
  [
    'twice-header',
    'an algorithm that is there twice',
    (issuer) => sign(issuer, '{"alg":"none","alg":"RS256","kid":"selftest"}'),
  ],
  [
    'twice-claim',
    'an issuer that is there twice',
    (issuer) =>
      sign(issuer, GOOD_HEADER, JSON.stringify(issuer.claims()).replace('{', '{"iss":"other",')),
  ],
  ['no-json', 'claims that are no JSON', (issuer) => sign(issuer, GOOD_HEADER, 'owner')],
  ['list', 'claims that are a list', (issuer) => sign(issuer, GOOD_HEADER, '[]')],
];

export const JWT_CASES: readonly AttackCase[] = [
  {
    ...describe('good', 'a token as it should be is served'),
    attack: (scene) => {
      const token = sign(requireOwn(scene).issuer);
      return expectForwarded(scene, craftRequest(scene, { token }));
    },
  },
  ...TOKENS.map(([name, title, make, evidence]) => reject(name, title, make, evidence)),
  ...HEADERS.map(([name, title, header]) =>
    reject(name, title, (issuer) => sign(issuer, { ...GOOD_HEADER, ...header })),
  ),
  ...CLAIMS.map(([name, title, claims]) =>
    reject(name, title, (issuer) => {
      const now = Math.floor(Date.now() / 1000);
      return sign(issuer, GOOD_HEADER, { ...issuer.claims(), ...claims(now) });
    }),
  ),
];

function reject(
  name: string,
  title: string,
  make: (issuer: TokenIssuer) => string,
  evidence?: string,
): AttackCase {
  return {
    ...describe(name, title),
    ...(evidence !== undefined && { evidence }),
    attack: (scene: Scene) => {
      const token = make(requireOwn(scene).issuer);
      return expectRejected(scene, craftRequest(scene, { token }), { statuses: [401] });
    },
  };
}

function join(header: object | string, claims: object | string): string {
  return `${encodePart(header)}.${encodePart(claims)}`;
}

function sign(
  issuer: TokenIssuer,
  header: object | string = GOOD_HEADER,
  claims: object | string = issuer.claims(),
): string {
  const text = join(header, claims);
  return `${text}.${signRs256(text, issuer.key)}`;
}

function signByStranger(issuer: TokenIssuer, header: object): string {
  const text = join(header, issuer.claims());
  return `${text}.${signRs256(text, stranger.privateKey)}`;
}

function describe(name: string, title: string) {
  return { id: `jwt-${name}`, class: 'jwt' as const, title, needs: 'own' as const };
}
