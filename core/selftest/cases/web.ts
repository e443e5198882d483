import type { Attack, Verdict } from '../attack-case.js';
import { expectNoSecrets, sendOnce } from '../expectations.js';
import { headerValues, type RawHeader, type ReceivedResponse } from '../raw-http.js';
import { readRecordedHeader } from '../recording-provider.js';
import type { CraftedRequest } from '../request-bytes.js';
import { type OwnToken, requireOwn, type Scene } from '../scene.js';
import {
  ALLOWED_ORIGIN,
  KEY_HEADER,
  PUBLIC_URL,
  SESSION_COOKIE,
  USERS_MODULE,
} from '../web-access.js';

/** Origins that resemble the allowed one. */
const OTHER_ORIGINS: readonly (readonly [name: string, origin: string])[] = [
  ['null', 'null'],
  ['any', '*'],
  ['foreign', 'https://evil.test'],
  ['suffix', `${ALLOWED_ORIGIN}.evil.test`],
  ['prefix', 'https://evil-app.selftest.test'],
  ['subdomain', 'https://x.app.selftest.test'],
  ['parent', 'https://selftest.test'],
  ['port', `${ALLOWED_ORIGIN}:8443`],
  ['default-port', `${ALLOWED_ORIGIN}:443`],
  ['scheme', ALLOWED_ORIGIN.replace('https', 'http')],
  ['case', ALLOWED_ORIGIN.toUpperCase()],
  ['dot', `${ALLOWED_ORIGIN}.`],
  ['slash', `${ALLOWED_ORIGIN}/`],
  ['user', 'https://app.selftest.test@evil.test'],
  ['list', `${ALLOWED_ORIGIN}, https://evil.test`],
];

/** The head of a request that a page of another site can trigger. */
const FORGED: readonly (readonly [name: string, headers: readonly RawHeader[]])[] = [
  ['no-origin', []],
  ['null', [['origin', 'null']]],
  ['foreign', [['origin', 'https://evil.test']]],
  ['suffix', [['origin', `${PUBLIC_URL}.evil.test`]]],
  ['scheme', [['origin', PUBLIC_URL.replace('https', 'http')]]],
  ['referer', [['referer', `${PUBLIC_URL}/`]]],
  ['same-site', [['sec-fetch-site', 'same-site']]],
  ['cross-site', [['sec-fetch-site', 'cross-site']]],
  ['two-sites', [['sec-fetch-site', 'same-origin, cross-site']]],
  [
    'forwarded-host',
    [
      ['origin', 'https://evil.test'],
      ['x-forwarded-host', 'evil.test'],
    ],
  ],
  [
    'own-cookie',
    [
      ['origin', 'https://evil.test'],
      ['cookie', '__Host-modgate=x'],
    ],
  ],
];

const METHODS = ['POST', 'PUT', 'PATCH', 'DELETE'];

export const WEB_CASES: readonly Attack[] = [
  ...OTHER_ORIGINS.flatMap(([name, origin]) => [
    rejectPreflight(`preflight-${name}`, `a preflight of the origin ${origin}`, {
      headers: preflight(origin),
    }),
    shareNothing(`read-${name}`, `a request of the origin ${origin}`, [['origin', origin]]),
  ]),
  rejectPreflight('preflight-two-origins', 'a preflight with two origins', {
    headers: [...preflight(ALLOWED_ORIGIN), ['origin', 'https://evil.test']],
  }),
  rejectPreflight('preflight-no-method', 'OPTIONS without a method to ask for', {
    headers: [['origin', ALLOWED_ORIGIN]],
  }),
  rejectPreflight('preflight-bridge', 'a preflight of the console bridge', {
    target: '/modules/desk/http/console-bridge/desk.config',
    headers: preflight(ALLOWED_ORIGIN),
  }),
  rejectPreflight('preflight-host', 'a preflight of a route of the host', {
    target: '/modules',
    headers: preflight(ALLOWED_ORIGIN),
  }),
  {
    ...describe('allowed', 'the allowed origin gets itself, and no wildcard'),
    send: { headers: [['origin', ALLOWED_ORIGIN]] },
    forwarded: (_, response) => expectShared(response, [ALLOWED_ORIGIN]),
  },
  ...FORGED.map(([name, headers]) => forge(name, 'POST', headers)),
  ...METHODS.slice(1).map((method) =>
    forge(method.toLowerCase(), method, [['origin', 'https://evil.test']]),
  ),
  {
    ...describe('forged-bridge', 'a forged request to the console bridge'),
    send: {
      method: 'POST',
      target: '/modules/desk/http/console-bridge/desk.config',
      token: null,
      body: '{}',
      headers: [['cookie', SESSION_COOKIE]],
    },
    rejected: 403,
  },
  rejectKeys('two-tokens', 'two different tokens', (scene) => [
    ['authorization', `Bearer ${scene.token}`],
    [KEY_HEADER, requireOwn(scene).tokens.stranger],
  ]),
  rejectKeys('two-keys', 'the same key twice', (scene) => [
    [KEY_HEADER, `${scene.token}`],
    [KEY_HEADER, `${scene.token}`],
  ]),
  rejectKeys('bad-key', 'a valid token and an invalid key', (scene) => [
    ['authorization', `Bearer ${scene.token}`],
    [KEY_HEADER, 'x'],
  ]),
  rejectKeys('key-scheme', 'a key with a scheme', (scene) => [
    [KEY_HEADER, `Bearer ${scene.token}`],
  ]),
  rejectKeys('key-underscore', 'a key header with underscores', (scene) => [
    [KEY_HEADER.replaceAll('-', '_'), `${scene.token}`],
  ]),
  rejectKeys('key-expired', 'an expired key', (scene) => [
    [KEY_HEADER, requireOwn(scene).tokens.expired],
  ]),
  hideCredentials('key-forwarded', 'an API key that reaches the provider', (scene) => [
    [KEY_HEADER, `${scene.token}`],
  ]),
  hideCredentials('cookie-forwarded', 'a cookie that reaches the provider', () => [
    ['cookie', SESSION_COOKIE],
  ]),
  denyCaller('caller-service', 'a service at a module for users', 'owner'),
  denyCaller('caller-wildcard', 'scopes instead of the kind of caller', 'wildcard'),
];

function preflight(origin: string): RawHeader[] {
  return [
    ['origin', origin],
    ['access-control-request-method', 'DELETE'],
    ['access-control-request-headers', 'authorization, x-anything'],
  ];
}

function rejectPreflight(name: string, title: string, request: CraftedRequest): Attack {
  return {
    ...describe(name, title),
    attack: async (scene) => {
      const response = await sendOnce(scene, { ...request, method: 'OPTIONS', token: null });
      if (![401, 405].includes(response.status)) return `responded with ${response.status}`;
      const allowed = headerValues(response.headers, 'access-control-allow-methods');
      if (allowed.length > 0) return `allowed ${allowed}`;
      return expectNoSecrets(scene, response);
    },
  };
}

function shareNothing(name: string, title: string, headers: readonly RawHeader[]): Attack {
  return {
    ...describe(name, title),
    send: { headers },
    forwarded: (_, response) => expectShared(response, []),
  };
}

/** Expects that only pages of these origins can read the response. */
function expectShared({ headers }: ReceivedResponse, origins: readonly string[]): Verdict {
  const shared = headerValues(headers, 'access-control-allow-origin');
  if (shared.join() !== origins.join()) return `the response is for the origin ${shared}`;
  const isVaried = headerValues(headers, 'vary').join().toLowerCase().includes('origin');
  return isVaried ? null : 'a cache may give the response to another origin';
}

function forge(name: string, method: string, headers: readonly RawHeader[]): Attack {
  return {
    ...describe(`forged-${name}`, `a forged ${method} with a cookie: ${name}`),
    send: {
      method,
      token: null,
      ...(method !== 'DELETE' && { body: '{}' }),
      headers: [['cookie', SESSION_COOKIE], ...headers],
    },
    rejected: 403,
  };
}

function rejectKeys(
  name: string,
  title: string,
  headers: (scene: Scene) => readonly RawHeader[],
): Attack {
  return {
    ...describe(name, title),
    send: (scene) => ({ token: null, headers: headers(scene) }),
    rejected: 401,
  };
}

function hideCredentials(
  name: string,
  title: string,
  headers: (scene: Scene) => readonly RawHeader[],
): Attack {
  return {
    ...describe(name, title),
    send: (scene) => ({ token: null, headers: headers(scene) }),
    forwarded: (recorded, _, scene) => {
      const received = headers(scene).find(
        ([header]) => readRecordedHeader(recorded, header).length > 0,
      );
      return received === undefined ? null : `the provider received ${received[0]}`;
    },
  };
}

function denyCaller(name: string, title: string, as: OwnToken): Attack {
  const send = { target: `/modules/${USERS_MODULE}/http/items`, as };
  return { ...describe(name, title), send, rejected: 403 };
}

function describe(name: string, title: string) {
  return { id: `web-${name}`, title };
}
