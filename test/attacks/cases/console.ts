import { createHash } from 'node:crypto';
import { AttackFailure, expectNoSecrets } from '../../../core/selftest/expectations.js';
import { headerValue, headerValues, type RawHeader } from '../../../core/selftest/raw-http.js';
import { type Attack, type CraftedRequest, reject, type Verdict } from '../attack.js';
import { craftRequest, expectRejected, expectUncalled, sendOnce } from '../expectations.js';
import type { Scene } from '../scene.js';

const API = '/console/api';
const SAME_ORIGIN: RawHeader = ['sec-fetch-site', 'same-origin'];
const CHOSEN = 'A'.repeat(43);

const FORM: RawHeader = ['content-type', 'application/x-www-form-urlencoded'];
const TEXT: RawHeader = ['content-type', 'text/plain'];

type Headers = readonly RawHeader[];

/** Parts of a request that pages of other origins can control, besides the cookie. */
const FOREIGN: readonly (readonly [name: string, title: string, headers: Headers])[] = [
  ['form', 'a form of another site', [['sec-fetch-site', 'cross-site'], FORM]],
  ['form-text', 'a form with plain text', [['sec-fetch-site', 'cross-site'], TEXT]],
  ['form-port', 'a form of another port', [['sec-fetch-site', 'same-site'], FORM]],
  ['fetch', 'fetch of another site', [['sec-fetch-site', 'cross-site']]],
  ['fetch-port', 'fetch of another port', [['sec-fetch-site', 'same-site']]],
  ['origin', 'the origin of another site', [['origin', 'https://evil.test']]],
  ['origin-null', 'the origin of a sandbox', [['origin', 'null']]],
  ['origin-port', 'the origin of another port', [['origin', 'http://127.0.0.1:1']]],
  ['no-origin', 'a browser that sends neither', []],
  ['form-own', 'a form of the same origin', [SAME_ORIGIN, FORM]],
];

/** Addresses in forged headers, which no page can prove. */
const CLAIMED: readonly (readonly [name: string, headers: Headers])[] = [
  ['x-forwarded-proto', [['x-forwarded-proto', 'https']]],
  ['x-forwarded-host', [['x-forwarded-host', '127.0.0.1']]],
  ['forwarded', [['forwarded', 'proto=https;host=127.0.0.1']]],
];

/** Pages that other sites must not show in a frame. */
const FRAMED: Readonly<Record<string, string>> = {
  api: `${API}/sign-in`,
  page: '/console',
  module: '/console/modules/shop?tab=Actions',
  docs: '/docs',
};

const PAGE_POLICY = [
  ...["default-src 'none'", "script-src 'self'", "form-action 'self'", "base-uri 'none'"],
  "require-trusted-types-for 'script'",
];

const ENCODINGS = ['base64url', 'base64', 'hex'] as const;

const PATHS = [
  '/%2e%2e/metrics',
  '/../modules',
  '/api/modules/shop/http/%2e%2e/items',
  '/%2E%2E/modules',
];

const readValue = (cookie: string) => cookie.slice(cookie.indexOf('=') + 1);
/** Keeps the name, which depends on the address of the host. */
const replaceValue = (cookie: string, value: string) =>
  `${cookie.slice(0, cookie.indexOf('='))}=${value}`;

export const CONSOLE_CASES: readonly Attack[] = [
  withSession('fixation', 'a cookie that the attacker has chosen', async (scene, cookie) => {
    const planted = replaceValue(cookie, CHOSEN);
    const chosen = await signIn(scene, [['cookie', planted]]);
    if (chosen.cookie.includes(CHOSEN)) return 'the session has the cookie of the attacker';
    return expectUnknown(scene, planted);
  }),
  withSession('fixation-reuse', 'a cookie from before the sign-in', async (scene, cookie) => {
    const next = await signIn(scene, [['cookie', cookie]]);
    if (next.cookie === cookie) return 'the cookie is the same after another sign-in';
    return expectUnknown(scene, cookie);
  }),
  ...FOREIGN.map(([name, title, headers]) =>
    rejectWithSession(`csrf-${name}`, `a change by ${title}`, 403, ({ base }) => ({
      method: 'POST',
      target: `${API}${base}/items`,
      headers,
      body: '{}',
    })),
  ),
  ...FOREIGN.slice(0, 9).map(([name, title, headers]) => {
    const send = (scene: Scene) => ({ ...signInWith(scene), headers });
    return reject(`console-login-csrf-${name}`, `a sign-in by ${title}`, send, 403);
  }),
  ...['cross-site', 'same-site'].map((site) =>
    rejectWithSession(`csrf-navigation-${site}`, `a navigation, ${site}`, 403, ({ base }) => ({
      target: `${API}${base}/items`,
      headers: [
        ['sec-fetch-site', site],
        ['sec-fetch-mode', 'navigate'],
      ],
    })),
  ),
  ...['/modules/shop/http/items', '/modules', '/calls', '/audit', '/plugins'].map((target) =>
    rejectWithSession(
      `elsewhere${target.replaceAll('/', '-')}`,
      `the cookie on ${target}`,
      401,
      () => ({ target, headers: [SAME_ORIGIN] }),
    ),
  ),
  withSession('stolen-digest', 'what the store holds of a cookie', async (scene, cookie) => {
    const value = readValue(cookie);
    for (const encoding of ['hex', 'base64url', 'base64'] as const) {
      const digest = createHash('sha256').update(value).digest(encoding);
      const verdict = await expectUnknown(scene, replaceValue(cookie, digest));
      if (verdict !== null) return verdict;
    }
    return null;
  }),
  withSession('stolen-id', 'the id of a session as its cookie', async (scene, cookie) => {
    const response = await sendOnce(scene, craftApi(scene, '/session', cookie));
    const { id } = JSON.parse(response.body.toString()) as { readonly id?: unknown };
    return typeof id === 'string' ? expectUnknown(scene, replaceValue(cookie, id)) : 'no id';
  }),
  withSession('signed-out', 'a cookie after the sign-out', async (scene, cookie) => {
    await sendOnce(scene, craftApi(scene, '/session', cookie, 'DELETE'));
    return expectUnknown(scene, cookie);
  }),
  withSession('two-cookies', 'a second cookie of the same name', (scene, cookie) =>
    expectUnknown(scene, `${replaceValue(cookie, CHOSEN)}; ${cookie}`),
  ),
  rejectWithSession('sessions', 'the list of sessions without its scope', 403, () => ({
    target: `${API}/sessions`,
    headers: [SAME_ORIGIN],
  })),
  withSession('mounted', 'a module that is mounted below localhost', async (scene, cookie) => {
    const { status, body } = await sendOnce(scene, craftApi(scene, '/modules', cookie));
    const isOfHost = status === 200 && body.includes('"modules":');
    return isOfHost ? expectUncalled(scene) : `the host does not list its modules: ${status}`;
  }),
  withSession('token-in-page', 'the token in a response', async (scene, cookie) => {
    const response = await sendOnce(scene, craftApi(scene, '/session', cookie), 200);
    return expectNoSecrets(scene, response);
  }),
  withSession('token-in-cookie', 'the token in the cookie', async (scene, cookie) => {
    const token = scene.token ?? '';
    const forms = [token, ...ENCODINGS.map((encoding) => Buffer.from(token).toString(encoding))];
    const value = readValue(cookie);
    const decoded = ENCODINGS.map((encoding) => Buffer.from(value, encoding).toString('latin1'));
    const isHeld = forms.some((form) => [value, ...decoded].some((text) => text.includes(form)));
    return isHeld ? 'the cookie holds the token' : null;
  }),
  describe('script', 'a script that reads the cookie', async (scene) => {
    const { attributes } = await signIn(scene);
    const missing = ['HttpOnly', 'SameSite=Strict'].find((name) => !attributes.includes(name));
    return missing === undefined ? null : `the cookie is not ${missing}`;
  }),
  reject(
    'console-bearer',
    'a bearer token instead of a session',
    { target: `${API}/modules`, headers: [SAME_ORIGIN] },
    401,
  ),
  describe('password-box', 'a 401 that opens a dialog of the browser', async (scene) => {
    const response = await sendOnce(scene, craftApi(scene, '/session', 'modgate=none'));
    const challenges = headerValues(response.headers, 'www-authenticate').join();
    return challenges === 'Session' ? null : `the challenge is ${challenges || 'absent'}`;
  }),
  ...Object.entries(FRAMED).map(([name, target]) =>
    describe(`clickjacking-${name}`, `${target} in a frame of another page`, async (scene) => {
      const policy = await readPolicy(scene, target);
      return policy.includes("frame-ancestors 'none'") ? null : 'other pages may frame it';
    }),
  ),
  describe('page-policy', 'a script or a form that a text has become', async (scene) => {
    const policy = await readPolicy(scene, '/console');
    if (/unsafe-|[*]|https?:/.test(policy)) return 'the policy of the page allows foreign code';
    const missing = PAGE_POLICY.find((directive) => !policy.includes(directive));
    return missing === undefined ? null : `the policy of the page has no ${missing}`;
  }),
  withSession('form', 'a form in a response of a module', async (scene, cookie) => {
    const sent = craftApi(scene, `${scene.base}/items`, cookie);
    const response = await sendOnce(scene, sent, 200);
    const policy = headerValue(response.headers, 'content-security-policy') ?? '';
    return policy.includes("form-action 'none'") ? null : 'its forms act with the session';
  }),
  reject(
    'console-developer',
    'the sign-in of developers in production',
    (scene) => craftApi(scene, '/session/developer', null, 'POST'),
    404,
  ),
  ...CLAIMED.map(([name, headers]) =>
    describe(`claimed-${name}`, `a sign-in over an address that ${name} claims`, async (scene) => {
      const request = craftRequest(
        { ...scene, authority: 'console.test' },
        { ...signInWith(scene), headers: [SAME_ORIGIN, ...headers] },
      );
      const response = await sendOnce(scene, request);
      const cookie = headerValue(response.headers, 'set-cookie') ?? '';
      // With a public URL the cookie is that of this URL, regardless of the headers of a request.
      const isOfPublicUrl = response.status === 204 && cookie.startsWith('__Host-modgate=');
      if (response.status === 403 || isOfPublicUrl) return null;
      return `responded with ${response.status} instead of 403`;
    }),
  ),
  ...PATHS.map((path, index) => {
    const target = `/console${path}`;
    return reject(`console-path-${index + 1}`, `the path ${target}`, { target }, 404);
  }),
  reject(
    'console-large-body',
    'a body above 1 MiB',
    {
      ...{ method: 'POST', target: `${API}/session`, headers: [SAME_ORIGIN] },
      body: Buffer.alloc(1_048_577, 'a'),
    },
    413,
  ),
];

/** All of these attacks need a host on loopback with a console. */
function describe(name: string, title: string, attack: (scene: Scene) => Promise<Verdict>): Attack {
  return { id: `console-${name}`, title, attack };
}

/** Creates a case that begins with a session of the token. */
function withSession(
  name: string,
  title: string,
  attack: (scene: Scene, cookie: string) => Promise<Verdict>,
): Attack {
  return describe(name, title, async (scene) => {
    const { cookie } = await signIn(scene);
    return attack(scene, cookie);
  });
}

/** Creates a case in which a request with the cookie of a session is rejected. */
function rejectWithSession(
  name: string,
  title: string,
  status: number,
  request: (scene: Scene) => CraftedRequest & { readonly headers: Headers },
): Attack {
  return withSession(name, title, (scene, cookie) => {
    const { headers, ...rest } = request(scene);
    const sent = { ...rest, token: null, headers: [['cookie', cookie] as const, ...headers] };
    return expectRejected(scene, craftRequest(scene, sent), [status]);
  });
}

async function readPolicy(scene: Scene, target: string): Promise<string> {
  const response = await sendOnce(scene, { target, token: null });
  return headerValue(response.headers, 'content-security-policy') ?? '';
}

function signInWith({ token }: Scene): CraftedRequest {
  const body = JSON.stringify({ token });
  return { method: 'POST', target: `${API}/session`, token: null, body };
}

async function signIn(scene: Scene, headers: Headers = []) {
  const request = { ...signInWith(scene), headers: [SAME_ORIGIN, ...headers] };
  const response = await sendOnce(scene, request);
  if (response.status !== 204)
    throw new AttackFailure(`the sign-in responded with ${response.status}`);
  const attributes = headerValue(response.headers, 'set-cookie') ?? '';
  return { cookie: attributes.split(';')[0] ?? '', attributes };
}

function craftApi(scene: Scene, path: string, cookie: string | null, method = 'GET'): Buffer {
  const headers: RawHeader[] = [SAME_ORIGIN];
  if (cookie !== null) headers.push(['cookie', cookie]);
  return craftRequest(scene, { method, target: `${API}${path}`, token: null, headers });
}

/** Expects that the cookie belongs to no session. */
function expectUnknown(scene: Scene, cookie: string): Promise<Verdict> {
  return expectRejected(scene, craftApi(scene, '/session', cookie), [401]);
}
