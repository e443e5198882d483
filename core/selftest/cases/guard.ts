import type { Attack } from '../attack-case.js';
import { expectLimited } from '../expectations.js';
import type { RawHeader } from '../raw-http.js';
import { readRecordedHeader } from '../recording-provider.js';
import { type CraftedRequest, craftMark, craftRequest } from '../request-bytes.js';
import { type OwnToken, requireOwn } from '../scene.js';

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'PROPFIND'];
const HOST_ROUTES = [
  '/modules',
  '/manifests',
  '/calls',
  '/explain?method=GET&target=/',
  '/candidate?module=shop',
];

/** Invalid values of `authorization`, derived from a valid token. */
const BAD_AUTHORIZATIONS: readonly (readonly [
  name: string,
  title: string,
  value: (token: string) => string,
])[] = [
  ['basic', 'another scheme', (token) => `Basic ${token}`],
  ['no-scheme', 'a token without a scheme', (token) => token],
  ['empty', 'a scheme without a token', () => 'Bearer'],
  ['empty-space', 'a scheme and a space', () => 'Bearer '],
  ['two-tokens', 'two tokens in one header', (token) => `Bearer ${token} ${token}`],
  ['comma', 'two credentials separated by a comma', (token) => `Bearer ${token}, Bearer x`],
  ['cut', 'a token without its last character', (token) => `Bearer ${token.slice(0, -1)}`],
  ['longer', 'a token with an extra character', (token) => `Bearer ${token}x`],
  ['case', 'a token in another case', (token) => `Bearer ${token.toUpperCase()}`],
  ['quoted', 'a quoted token', (token) => `Bearer "${token}"`],
  ['proto', 'the token __proto__', () => 'Bearer __proto__'],
  ['dev', 'a development token in production', () => 'Bearer dev-system:root'],
  ['long', 'a token of 8 KiB', () => `Bearer ${'a'.repeat(8192)}`],
  ['tab', 'a tab after the scheme', (token) => `Bearer\t${token}`],
  ['nbsp', 'a no-break space after the scheme', (token) => `Bearer\xa0${token}`],
  ['digest', 'the scheme Digest', (token) => `Digest username="${token}"`],
];

const BAD_CREDENTIALS: readonly (readonly [
  name: string,
  title: string,
  headers: (token: string) => Readonly<Record<string, string>>,
])[] = [
  ...BAD_AUTHORIZATIONS.map(
    ([name, title, value]) =>
      [name, title, (token: string) => ({ authorization: value(token) })] as const,
  ),
  // Names in different case are two headers of a request.
  [
    'twice',
    'two headers, the second valid',
    (token) => ({ authorization: 'Bearer x', Authorization: `Bearer ${token}` }),
  ],
  [
    'twice-first',
    'two headers, the first valid',
    (token) => ({ authorization: `Bearer ${token}`, Authorization: 'Bearer x' }),
  ],
  [
    'underscore',
    'a header with an underscore',
    (token) => ({ x_authorization: `Bearer ${token}` }),
  ],
  [
    'api-key',
    'a token in headers of API keys',
    (token) => ({ 'x-api-key': token, 'x-auth-token': token }),
  ],
  [
    'proxy',
    'the credentials of a proxy',
    (token) => ({ 'proxy-authorization': `Bearer ${token}` }),
  ],
  [
    'cookie',
    'a token in a cookie',
    (token) => ({ cookie: `authorization=Bearer ${token}; token=${token}` }),
  ],
  [
    'forwarded-user',
    'the user header of a proxy',
    () => ({ 'x-forwarded-user': 'root', 'remote-user': 'root' }),
  ],
  ['actor', 'the actor header of the host', () => ({ 'modgate-actor': 'system:root' })],
];

/** Each module has the route `/public`; in this module it needs no credentials. */
export const PUBLIC_MODULE = 'open';
const PUBLIC_ROUTE = `/modules/${PUBLIC_MODULE}/http/public`;

/** The only address that may call the module `fenced`; no attack comes from it. */
export const FENCED_ADDRESS = '192.0.2.1';

/** Headers of proxies that no setting trusts. */
const CLAIMED_ADDRESSES: readonly (readonly [name: string, headers: readonly RawHeader[]])[] = [
  ['none', []],
  ['x-forwarded-for', [['x-forwarded-for', FENCED_ADDRESS]]],
  ['x-forwarded-for-list', [['x-forwarded-for', `${FENCED_ADDRESS}, 127.0.0.1`]]],
  ['forwarded', [['forwarded', `for=${FENCED_ADDRESS}`]]],
  ['x-real-ip', [['x-real-ip', FENCED_ADDRESS]]],
  ['x-client-ip', [['x-client-ip', FENCED_ADDRESS]]],
  ['modgate', [['modgate-client', FENCED_ADDRESS]]],
];

export const GUARD_CASES: readonly Attack[] = [
  ...METHODS.map(
    (method): Attack => ({
      id: `guard-anonymous-${method.toLowerCase()}`,
      title: `${method} without credentials`,
      needs: 'nothing',
      send: { method, token: null },
      // An unknown method is rejected before authentication.
      rejected: method === 'PROPFIND' ? [401, 404] : 401,
    }),
  ),
  ...HOST_ROUTES.map((target) => {
    const name = target.split(/[/?]/)[1] ?? '';
    return anonymous(`anonymous-route-${name}`, `GET /${name} without credentials`, { target });
  }),
  ...BAD_CREDENTIALS.map(
    ([name, title, headers]): Attack => ({
      id: `guard-credential-${name}`,
      title,
      needs: 'token',
      rejected: 401,
      send: ({ token }) => ({ token: null, headers: Object.entries(headers(token ?? '')) }),
    }),
  ),
  ...CLAIMED_ADDRESSES.map(
    ([name, headers]): Attack => ({
      id: `guard-address-${name}`,
      title: `another address than the module allows, claimed by ${name}`,
      send: { target: '/modules/fenced/http/items', headers },
      rejected: 403,
    }),
  ),
  rejectPublic('route', 'another route of a module with a public one', {
    target: `/modules/${PUBLIC_MODULE}/http/items`,
  }),
  rejectPublic('module', 'a public route in a module that is not public', {
    target: '/modules/shop/http/public',
  }),
  rejectPublic('bridge', 'the console bridge of a public module', {
    method: 'POST',
    target: `/modules/${PUBLIC_MODULE}/http/console-bridge/desk.config`,
    body: '{}',
  }),
  rejectPublic('credential', 'a wrong credential on a public route', {
    target: PUBLIC_ROUTE,
    headers: [['authorization', 'Bearer wrong']],
  }),
  {
    id: 'guard-public-actor',
    title: 'a caller without credentials who claims to be another on a public route',
    send: { target: PUBLIC_ROUTE, token: null, headers: [['modgate-actor', 'system:root']] },
    forwarded: (recorded) => {
      const actor = readRecordedHeader(recorded, 'modgate-actor').join();
      return actor === 'anonymous:anonymous' ? null : `the provider received the actor ${actor}`;
    },
  },
  {
    id: 'guard-credential-query',
    title: 'a token in the query',
    needs: 'token',
    send: ({ route, token }) => ({
      path: `${route}?access_token=${token}&authorization=Bearer%20${token}`,
      token: null,
    }),
    rejected: 401,
  },
  rejectToken('expired', 'an expired token', 'expired', 401),
  rejectToken('stranger', 'a service without the scope', 'stranger'),
  rejectToken('wildcard', 'scopes that look like patterns', 'wildcard'),
  rejectToken('user', 'a user without console.admin', 'user'),
  rejectToken('admin-is-no-scope', 'console.admin instead of the scope', 'admin'),
  ...['GET', 'HEAD', 'POST', 'DELETE'].map((method) => ({
    id: `guard-locked-${method.toLowerCase()}`,
    title: `${method} on a route without its capability`,
    send: { method, path: '/locked', ...(method === 'POST' && { body: '{}' }) },
    rejected: 403,
  })),
  ignoreHeaders('override', 'a header that overrides the method', [
    ['x-http-method-override', 'DELETE'],
    ['x-http-method', 'DELETE'],
    ['x-method-override', 'DELETE'],
  ]),
  ignoreHeaders('original-url', 'a header that overrides the path', [
    ['x-original-url', '/locked'],
    ['x-rewrite-url', '/locked'],
    ['x-forwarded-path', '/locked'],
  ]),
  {
    id: 'guard-override-query',
    title: 'a query that overrides the method',
    send: { path: '/items?_method=DELETE' },
    forwarded: ({ method }) => (method === 'GET' ? null : `the provider received ${method}`),
  },
  {
    id: 'guard-explain-guess',
    title: 'tokens guessed through GET /explain are limited',
    attack: (scene) => {
      const guess = (index: number) => craftRequest(scene, explain('explainer', `guess-${index}`));
      return expectLimited(scene, guess, 200);
    },
  },
  {
    id: 'guard-explain-scope',
    title: 'a caller without the scope cannot learn the owner of a token',
    send: (scene) => explain('stranger', requireOwn(scene).tokens.owner),
    rejected: 403,
  },
  {
    id: 'guard-rtsp',
    title: 'RTSP in the request line does not bypass authentication',
    needs: 'nothing',
    send: (scene) => {
      const line = `GET ${scene.base}${scene.route} RTSP/1.0`;
      const lines = [line, `Host: ${scene.authority}`, ...craftMark(scene), '\r\n'];
      return Buffer.from(lines.join('\r\n'));
    },
    rejected: [400, 401],
  },
  anonymous('bridge-anonymous', 'the console bridge without credentials', {
    method: 'POST',
    path: '/console-bridge/desk.config',
    body: '{}',
  }),
  anonymous('unknown-module-anonymous', 'an unknown module without credentials', {
    target: '/modules/no-such-module/http/items',
  }),
  anonymous('unknown-path-anonymous', 'an invalid path without credentials', {
    path: '/items/%00',
  }),
];

function anonymous(name: string, title: string, request: CraftedRequest): Attack {
  const id = `guard-${name}`;
  return { id, title, needs: 'nothing', send: { ...request, token: null }, rejected: 401 };
}

function rejectPublic(name: string, title: string, request: CraftedRequest): Attack {
  return { id: `guard-public-${name}`, title, send: { ...request, token: null }, rejected: 401 };
}

function explain(as: OwnToken, explained: string): CraftedRequest {
  const headers = [['modgate-explain-as', explained]] as const;
  return { as, target: '/explain?method=GET&target=%2F', headers };
}

function rejectToken(name: string, title: string, as: OwnToken, rejected = 403): Attack {
  return { id: `guard-token-${name}`, title, send: { as }, rejected };
}

function ignoreHeaders(name: string, title: string, headers: readonly RawHeader[]): Attack {
  return {
    id: `guard-${name}`,
    title,
    send: { headers },
    forwarded: ({ method, target, rawHeaders }, _, { route }) => {
      if (method !== 'GET' || target !== route) return `the provider received ${method} ${target}`;
      const isOverride = (text: string) => text.toLowerCase().startsWith('x-http-method');
      return rawHeaders.some(isOverride) ? 'the header was forwarded' : null;
    },
  };
}
