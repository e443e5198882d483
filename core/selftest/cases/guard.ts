import type { Attack } from '../attack-case.js';
import { type CraftedRequest, craftMark, joinLines } from '../request-bytes.js';

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
  ['long', 'a token of 15 KiB', () => `Bearer ${'a'.repeat(15_360)}`],
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

export const GUARD_CASES: readonly Attack[] = [
  ...METHODS.map(
    (method): Attack => ({
      id: `guard-anonymous-${method.toLowerCase()}`,
      title: `${method} without credentials`,
      isAnonymous: true,
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
      rejected: 401,
      send: ({ token }) => ({ token: null, headers: Object.entries(headers(token ?? '')) }),
    }),
  ),
  {
    id: 'guard-credential-query',
    title: 'a token in the query',
    send: ({ route, token }) => ({
      path: `${route}?access_token=${token}&authorization=Bearer%20${token}`,
      token: null,
    }),
    rejected: 401,
  },
  {
    id: 'guard-rtsp',
    title: 'RTSP in the request line does not bypass authentication',
    isAnonymous: true,
    send: (scene) => {
      const line = `GET ${scene.base}${scene.route} RTSP/1.0`;
      return joinLines([line, `Host: ${scene.authority}`, ...craftMark(scene)]);
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
  return { id, title, isAnonymous: true, send: { ...request, token: null }, rejected: 401 };
}
