import { withConnection } from '../../../core/selftest/expectations.js';
import type { RawHeader } from '../../../core/selftest/raw-http.js';
import { type Attack, type CraftedRequest, reject, type Verdict } from '../attack.js';
import { craftRequest, expectLimited } from '../expectations.js';
import { FENCED_ADDRESS } from '../modules.js';
import { type OwnToken, readHeader, type Scene } from '../scene.js';

/** Routes that read a body of callers with the right, by the scope or permission that is missing. */
const READING_ROUTES: readonly (readonly [name: string, target: string])[] = [
  ['publish', '/releases'],
  ['rollback', '/rollback'],
  ['decide', '/approvals/any'],
  ['invoke', '/operations'],
  ['bridge', '/modules/desk/http/console-bridge/desk.config'],
  ['route', '/modules/shop/http/locked'],
];

const PUBLIC_ROUTE = '/modules/open/http/public';

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
  ...CLAIMED_ADDRESSES.map(([name, headers]) => {
    const title = `another address than the module allows, claimed by ${name}`;
    const send = { target: '/modules/fenced/http/items', headers };
    return reject(`guard-address-${name}`, title, send, 403);
  }),
  rejectPublic('route', 'another route of a module with a public one', {
    target: '/modules/open/http/items',
  }),
  rejectPublic('module', 'a public route in a module that is not public', {
    target: '/modules/shop/http/public',
  }),
  rejectPublic('bridge', 'the console bridge of a public module', {
    method: 'POST',
    target: '/modules/open/http/console-bridge/desk.config',
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
      const actor = readHeader(recorded, 'modgate-actor').join();
      return actor === 'anonymous:anonymous' ? null : `the provider received the actor ${actor}`;
    },
  },
  rejectToken('expired', 'an expired token', 'expired', 401),
  rejectToken('stranger', 'a service without the scope', 'stranger'),
  rejectToken('wildcard', 'scopes that look like patterns', 'wildcard'),
  rejectToken('user', 'a user without console.admin', 'user'),
  rejectToken('admin-is-no-scope', 'console.admin instead of the scope', 'admin'),
  ...['GET', 'HEAD', 'POST', 'DELETE'].map((method) => {
    const send = { method, path: '/locked', ...(method === 'POST' && { body: '{}' }) };
    const title = `${method} on a route without its capability`;
    return reject(`guard-locked-${method.toLowerCase()}`, title, send, 403);
  }),
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
  ...READING_ROUTES.map(
    ([name, target]): Attack => ({
      id: `guard-unread-${name}`,
      title: `a body of POST ${target} without its right is not read`,
      attack: (scene) => expectUnread(scene, target),
    }),
  ),
  {
    id: 'guard-explain-guess',
    title: 'tokens guessed through GET /explain are limited',
    attack: (scene) => {
      const guess = (index: number) => craftRequest(scene, explain('explainer', `guess-${index}`));
      return expectLimited(scene, guess, 200);
    },
  },
  reject(
    'guard-explain-scope',
    'a caller without the scope cannot learn the owner of a token',
    (scene) => explain('stranger', scene.tokens.owner),
    403,
  ),
];

/** Announces a body: a host that reads it answers 100 first. */
async function expectUnread(scene: Scene, target: string): Promise<Verdict> {
  const headers: readonly RawHeader[] = [
    ['content-type', 'application/json'],
    ['content-length', '1000'],
    ['expect', '100-continue'],
  ];
  const bytes = craftRequest(scene, { method: 'POST', target, as: 'stranger', headers });
  const { status } = await withConnection(scene, (connection) => {
    connection.write(bytes);
    return connection.read();
  });
  return status === 403 ? null : `responded with ${status} first`;
}

function rejectPublic(name: string, title: string, request: CraftedRequest): Attack {
  return reject(`guard-public-${name}`, title, { ...request, token: null }, 401);
}

function explain(as: OwnToken, explained: string): CraftedRequest {
  const headers = [['modgate-explain-as', explained]] as const;
  return { as, target: '/explain?method=GET&target=%2F', headers };
}

function rejectToken(name: string, title: string, as: OwnToken, rejected = 403): Attack {
  return reject(`guard-token-${name}`, title, { as }, rejected);
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
