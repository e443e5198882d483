import { expectNoSecrets } from '../../../core/selftest/expectations.js';
import {
  headerValues,
  type RawHeader,
  type ReceivedResponse,
} from '../../../core/selftest/raw-http.js';
import { type Attack, type CraftedRequest, reject, type Verdict } from '../attack.js';
import { sendOnce } from '../expectations.js';
import { ALLOWED_ORIGIN, KEY_HEADER, PUBLIC_URL, SESSION_COOKIE } from '../plugins.js';
import { type OwnToken, readHeader, type Scene } from '../scene.js';

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
    share(`read-${name}`, `a request of the origin ${origin}`, origin, []),
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
  share('allowed', 'the allowed origin gets itself, and no wildcard', ALLOWED_ORIGIN, [
    ALLOWED_ORIGIN,
  ]),
  ...FORGED.map(([name, headers]) => forge(name, 'POST', headers)),
  ...METHODS.slice(1).map((method) =>
    forge(method.toLowerCase(), method, [['origin', 'https://evil.test']]),
  ),
  reject(
    'web-forged-bridge',
    'a forged request to the console bridge',
    {
      ...{ method: 'POST', target: '/modules/desk/http/console-bridge/desk.config' },
      ...{ token: null, body: '{}', headers: [['cookie', SESSION_COOKIE]] },
    },
    403,
  ),
  rejectKeys('two-tokens', 'two different tokens', (scene) => [
    ['authorization', `Bearer ${scene.token}`],
    [KEY_HEADER, scene.tokens.stranger],
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
  rejectKeys('key-expired', 'an expired key', (scene) => [[KEY_HEADER, scene.tokens.expired]]),
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

function share(name: string, title: string, origin: string, shared: readonly string[]): Attack {
  return {
    ...describe(name, title),
    send: { headers: [['origin', origin]] },
    forwarded: (_, response) => expectShared(response, shared),
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
  const send = {
    ...{ method, token: null, headers: [['cookie', SESSION_COOKIE] as const, ...headers] },
    ...(method !== 'DELETE' && { body: '{}' }),
  };
  return reject(`web-forged-${name}`, `a forged ${method} with a cookie: ${name}`, send, 403);
}

type CraftHeaders = (scene: Scene) => readonly RawHeader[];

function rejectKeys(name: string, title: string, headers: CraftHeaders): Attack {
  const send = (scene: Scene) => ({ token: null, headers: headers(scene) });
  return reject(`web-${name}`, title, send, 401);
}

function hideCredentials(name: string, title: string, headers: CraftHeaders): Attack {
  return {
    ...describe(name, title),
    send: (scene) => ({ token: null, headers: headers(scene) }),
    forwarded: (recorded, _, scene) => {
      const received = headers(scene).find(([header]) => readHeader(recorded, header).length > 0);
      return received === undefined ? null : `the provider received ${received[0]}`;
    },
  };
}

function denyCaller(name: string, title: string, as: OwnToken): Attack {
  return reject(`web-${name}`, title, { target: '/modules/users/http/items', as }, 403);
}

function describe(name: string, title: string) {
  return { id: `web-${name}`, title };
}
