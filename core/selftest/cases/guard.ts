import type { AttackCase } from '../attack-case.js';
import { expectForwarded, expectRejected } from '../expectations.js';
import type { RawHeader } from '../raw-http.js';
import { type CraftedRequest, craftRequest } from '../request-bytes.js';
import { type OwnToken, requireOwn, type Scene } from '../scene.js';

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'PROPFIND'];
const HOST_ROUTES = ['/modules', '/manifests', '/calls', '/explain?method=GET&target=/'];

/** What stands in `authorization`, made of a token that is good. */
const BAD_CREDENTIALS: readonly (readonly [
  name: string,
  title: string,
  header: (token: string) => readonly RawHeader[],
])[] = [
  ['basic', 'another scheme', (token) => [['authorization', `Basic ${token}`]]],
  ['no-scheme', 'a token without a scheme', (token) => [['authorization', token]]],
  ['empty', 'a scheme without a token', () => [['authorization', 'Bearer']]],
  ['empty-space', 'a scheme and a space', () => [['authorization', 'Bearer ']]],
  [
    'two-tokens',
    'two tokens in one header',
    (token) => [['authorization', `Bearer ${token} ${token}`]],
  ],
  [
    'comma',
    'two credentials by a comma',
    (token) => [['authorization', `Bearer ${token}, Bearer x`]],
  ],
  [
    'twice',
    'two headers, the second good',
    (token) => [
      ['authorization', 'Bearer x'],
      ['authorization', `Bearer ${token}`],
    ],
  ],
  [
    'twice-first',
    'two headers, the first good',
    (token) => [
      ['authorization', `Bearer ${token}`],
      ['Authorization', 'Bearer x'],
    ],
  ],
  [
    'cut',
    'all of a token but its last character',
    (token) => [['authorization', `Bearer ${token.slice(0, -1)}`]],
  ],
  ['longer', 'a token and one character more', (token) => [['authorization', `Bearer ${token}x`]]],
  [
    'case',
    'a token in another case',
    (token) => [['authorization', `Bearer ${token.toUpperCase()}`]],
  ],
  ['quoted', 'a quoted token', (token) => [['authorization', `Bearer "${token}"`]]],
  ['proto', 'the token __proto__', () => [['authorization', 'Bearer __proto__']]],
  ['dev', 'a development token in production', () => [['authorization', 'Bearer dev-system:root']]],
  ['long', 'a token of 8 KiB', () => [['authorization', `Bearer ${'a'.repeat(8192)}`]]],
  ['underscore', 'the header by another name', (token) => [['x_authorization', `Bearer ${token}`]]],
  ['proxy', 'the credentials of a proxy', (token) => [['proxy-authorization', `Bearer ${token}`]]],
  [
    'cookie',
    'a token in a cookie',
    (token) => [['cookie', `authorization=Bearer ${token}; token=${token}`]],
  ],
  [
    'forwarded-user',
    'the word of a proxy',
    () => [
      ['x-forwarded-user', 'root'],
      ['remote-user', 'root'],
    ],
  ],
  ['actor', 'the header that the host sends itself', () => [['modgate-actor', 'system:root']]],
];

export const GUARD_CASES: readonly AttackCase[] = [
  ...METHODS.map(callAnonymously),
  ...HOST_ROUTES.map(readAnonymously),
  ...BAD_CREDENTIALS.map(([name, title, header]) => ({
    ...describe(`credential-${name}`, title),
    needs: 'token' as const,
    attack: (scene: Scene) =>
      expectRejected(
        scene,
        craftRequest(scene, { token: null, headers: header(scene.token ?? '') }),
        { statuses: [401] },
      ),
  })),
  {
    ...describe('credential-query', 'a token in the query'),
    needs: 'token',
    attack: (scene) => {
      const query = `?access_token=${scene.token}&authorization=Bearer%20${scene.token}`;
      const target = scene.base + scene.route + query;
      return expectRejected(scene, craftRequest(scene, { token: null, target }), {
        statuses: [401],
      });
    },
  },
  rejectToken('expired', 'a token past its time', 'expired', [401]),
  rejectToken('stranger', 'a service without the scope', 'stranger', [403]),
  rejectToken('wildcard', 'scopes that look like patterns', 'wildcard', [403]),
  rejectToken('user', 'a user without console.admin', 'user', [403]),
  rejectToken('admin-is-no-scope', 'console.admin in place of the scope', 'admin', [403]),
  ...['GET', 'HEAD', 'POST', 'DELETE'].map((method) => ({
    ...describe(`locked-${method.toLowerCase()}`, `${method} on a route of a capability not held`),
    needs: 'own' as const,
    attack: (scene: Scene) => {
      const body = method === 'POST' ? { body: '{}' } : {};
      const target = `${scene.base}/locked`;
      return expectRejected(scene, craftRequest(scene, { method, target, ...body }), {
        statuses: [403],
        isHead: method === 'HEAD',
      });
    },
  })),
  keepRoute('override', 'a header that asks for another method', [
    ['x-http-method-override', 'DELETE'],
    ['x-http-method', 'DELETE'],
    ['x-method-override', 'DELETE'],
  ]),
  keepRoute('original-url', 'a header that names another path', [
    ['x-original-url', '/locked'],
    ['x-rewrite-url', '/locked'],
    ['x-forwarded-path', '/locked'],
  ]),
  {
    ...describe('override-query', 'a query that asks for another method'),
    needs: 'own',
    attack: (scene) =>
      expectForwarded(
        scene,
        craftRequest(scene, { target: `${scene.base}/items?_method=DELETE` }),
        ({ method }) => (method === 'GET' ? null : `the provider saw ${method}`),
      ),
  },
  {
    ...describe('bridge-anonymous', 'the console bridge without credentials'),
    needs: 'nothing',
    attack: (scene) =>
      rejectAnonymous(scene, {
        method: 'POST',
        target: `${scene.base}/console-bridge/desk.config`,
        body: '{}',
      }),
  },
  {
    ...describe('unknown-module-anonymous', 'an unknown module tells nothing to strangers'),
    needs: 'nothing',
    attack: (scene) => rejectAnonymous(scene, { target: '/modules/no-such-module/http/items' }),
  },
  {
    ...describe('unknown-path-anonymous', 'an impossible path tells nothing to strangers'),
    needs: 'nothing',
    attack: (scene) => rejectAnonymous(scene, { target: `${scene.base}/items/%00` }),
  },
];

function callAnonymously(method: string): AttackCase {
  return {
    ...describe(`anonymous-${method.toLowerCase()}`, `${method} without credentials`),
    needs: 'nothing',
    attack: (scene) =>
      expectRejected(scene, craftRequest(scene, { method, token: null }), {
        // A method that the parser does not know is refused before anybody asks who calls.
        statuses: method === 'PROPFIND' ? [401, 404] : [401],
        isHead: method === 'HEAD',
      }),
  };
}

function readAnonymously(target: string): AttackCase {
  const name = target.split(/[/?]/)[1] ?? '';
  return {
    ...describe(`anonymous-route-${name}`, `GET /${name} without credentials`),
    needs: 'nothing',
    attack: (scene) => rejectAnonymous(scene, { target }),
  };
}

function rejectAnonymous(scene: Scene, request: CraftedRequest) {
  return expectRejected(scene, craftRequest(scene, { ...request, token: null }), {
    statuses: [401],
  });
}

function rejectToken(
  name: string,
  title: string,
  token: OwnToken,
  statuses: readonly number[],
): AttackCase {
  return {
    ...describe(`token-${name}`, title),
    needs: 'own',
    attack: (scene) =>
      expectRejected(scene, craftRequest(scene, { token: requireOwn(scene).tokens[token] }), {
        statuses,
      }),
  };
}

function keepRoute(name: string, title: string, headers: readonly RawHeader[]): AttackCase {
  return {
    ...describe(name, title),
    needs: 'own',
    attack: (scene) =>
      expectForwarded(scene, craftRequest(scene, { headers }), ({ method, target, rawHeaders }) => {
        if (method !== 'GET' || target !== scene.route) return `it saw ${method} ${target}`;
        const isHandedOn = rawHeaders.some((text) =>
          text.toLowerCase().startsWith('x-http-method'),
        );
        return isHandedOn ? 'the header was handed on' : null;
      }),
  };
}

function describe(name: string, title: string) {
  return { id: `guard-${name}`, class: 'guard' as const, title };
}
