import type { AttackCase } from '../attack-case.js';
import { expectForwarded, expectRejected, sendOnce } from '../expectations.js';
import type { RawHeader } from '../raw-http.js';
import { type CraftedRequest, craftRequest } from '../request-bytes.js';
import { type OwnToken, requireOwn, type Scene } from '../scene.js';

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'PROPFIND'];
const HOST_ROUTES = ['/modules', '/manifests', '/calls', '/explain?method=GET&target=/'];

/** Invalid credentials, derived from a valid token. */
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
    'two credentials separated by a comma',
    (token) => [['authorization', `Bearer ${token}, Bearer x`]],
  ],
  [
    'twice',
    'two headers, the second valid',
    (token) => [
      ['authorization', 'Bearer x'],
      ['authorization', `Bearer ${token}`],
    ],
  ],
  [
    'twice-first',
    'two headers, the first valid',
    (token) => [
      ['authorization', `Bearer ${token}`],
      ['Authorization', 'Bearer x'],
    ],
  ],
  [
    'cut',
    'a token without its last character',
    (token) => [['authorization', `Bearer ${token.slice(0, -1)}`]],
  ],
  ['longer', 'a token with an extra character', (token) => [['authorization', `Bearer ${token}x`]]],
  [
    'case',
    'a token in another case',
    (token) => [['authorization', `Bearer ${token.toUpperCase()}`]],
  ],
  ['quoted', 'a quoted token', (token) => [['authorization', `Bearer "${token}"`]]],
  ['proto', 'the token __proto__', () => [['authorization', 'Bearer __proto__']]],
  ['dev', 'a development token in production', () => [['authorization', 'Bearer dev-system:root']]],
  ['long', 'a token of 8 KiB', () => [['authorization', `Bearer ${'a'.repeat(8192)}`]]],
  [
    'underscore',
    'a header with an underscore',
    (token) => [['x_authorization', `Bearer ${token}`]],
  ],
  ['tab', 'a tab after the scheme', (token) => [['authorization', `Bearer\t${token}`]]],
  [
    'nbsp',
    'a no-break space after the scheme',
    (token) => [['authorization', `Bearer\xa0${token}`]],
  ],
  ['digest', 'the scheme Digest', (token) => [['authorization', `Digest username="${token}"`]]],
  [
    'api-key',
    'a token in headers of API keys',
    (token) => [
      ['x-api-key', token],
      ['x-auth-token', token],
    ],
  ],
  ['proxy', 'the credentials of a proxy', (token) => [['proxy-authorization', `Bearer ${token}`]]],
  [
    'cookie',
    'a token in a cookie',
    (token) => [['cookie', `authorization=Bearer ${token}; token=${token}`]],
  ],
  [
    'forwarded-user',
    'the user header of a proxy',
    () => [
      ['x-forwarded-user', 'root'],
      ['remote-user', 'root'],
    ],
  ],
  ['actor', 'the actor header of the host', () => [['modgate-actor', 'system:root']]],
];

/** Far more than the host allows at once. */
const GUESSES = 100;

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
  rejectToken('expired', 'an expired token', 'expired', [401]),
  rejectToken('stranger', 'a service without the scope', 'stranger', [403]),
  rejectToken('wildcard', 'scopes that look like patterns', 'wildcard', [403]),
  rejectToken('user', 'a user without console.admin', 'user', [403]),
  rejectToken('admin-is-no-scope', 'console.admin instead of the scope', 'admin', [403]),
  ...['GET', 'HEAD', 'POST', 'DELETE'].map((method) => ({
    ...describe(`locked-${method.toLowerCase()}`, `${method} on a route without its capability`),
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
    ...describe('override-query', 'a query that overrides the method'),
    needs: 'own',
    attack: (scene) =>
      expectForwarded(
        scene,
        craftRequest(scene, { target: `${scene.base}/items?_method=DELETE` }),
        ({ method }) => (method === 'GET' ? null : `the provider received ${method}`),
      ),
  },
  {
    ...describe('explain-guess', 'tokens guessed through GET /explain are limited'),
    needs: 'own',
    attack: async (scene) => {
      for (let guess = 0; guess < GUESSES; guess += 1) {
        const bytes = craftExplanation(scene, requireOwn(scene).tokens.explainer, `guess-${guess}`);
        const response = await sendOnce(scene, bytes);
        if (typeof response === 'string') return response;
        if (response.status === 429) return null;
        if (response.status !== 200) return `responded with ${response.status} instead of 200`;
      }
      return `the host explained ${GUESSES} tokens`;
    },
  },
  {
    ...describe('explain-scope', 'a caller without the scope cannot learn the owner of a token'),
    needs: 'own',
    attack: (scene) => {
      const { owner, stranger } = requireOwn(scene).tokens;
      return expectRejected(scene, craftExplanation(scene, stranger, owner), { statuses: [403] });
    },
  },
  {
    ...describe('rtsp', 'RTSP in the request line is no way around authentication'),
    needs: 'nothing',
    attack: (scene) =>
      expectRejected(
        scene,
        Buffer.from(`GET ${scene.base}${scene.route} RTSP/1.0\r\nHost: ${scene.authority}\r\n\r\n`),
        { statuses: [400, 401] },
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
    ...describe('unknown-module-anonymous', 'an unknown module without credentials'),
    needs: 'nothing',
    attack: (scene) => rejectAnonymous(scene, { target: '/modules/no-such-module/http/items' }),
  },
  {
    ...describe('unknown-path-anonymous', 'an invalid path without credentials'),
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
        // An unknown method is rejected before authentication.
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

function craftExplanation(scene: Scene, token: string, explained: string): Buffer {
  const headers = [['modgate-explain-as', explained]] as const;
  return craftRequest(scene, { token, target: '/explain?method=GET&target=%2F', headers });
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

function ignoreHeaders(name: string, title: string, headers: readonly RawHeader[]): AttackCase {
  return {
    ...describe(name, title),
    needs: 'own',
    attack: (scene) =>
      expectForwarded(scene, craftRequest(scene, { headers }), ({ method, target, rawHeaders }) => {
        if (method !== 'GET' || target !== scene.route)
          return `the provider received ${method} ${target}`;
        const isForwarded = rawHeaders.some((text) =>
          text.toLowerCase().startsWith('x-http-method'),
        );
        return isForwarded ? 'the header was forwarded' : null;
      }),
  };
}

function describe(name: string, title: string) {
  return { id: `guard-${name}`, class: 'guard' as const, title };
}
