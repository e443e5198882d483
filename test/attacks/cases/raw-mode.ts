import { expectNoSecrets, parseObject } from '../../../core/selftest/expectations.js';
import {
  headerValues,
  type RawHeader,
  type ReceivedResponse,
} from '../../../core/selftest/raw-http.js';
import type { Attack, Verdict } from '../attack.js';
import { expectBystanderUncalled, sendOnce } from '../expectations.js';
import type { OwnModules } from '../scene.js';
import { type Scripts, SMUGGLED } from '../servers/scripted-server.js';

/** The base path of the module's endpoint. */
export const RAW_BASE = '/base';
const JSON_TYPE: RawHeader = ['content-type', 'application/json'];
const BODY = '{"ok":true}';
const EVENTS_TYPE = 'text/event-stream';

export const createRawModules = (url: string): OwnModules => ({
  raw: {
    url: url + RAW_BASE,
    responses: { mode: 'raw' },
    routes: [
      {
        ...{ method: 'GET', path: '/events/{kind}', capability: 'shop.use' },
        operation: { stream: 'sse' },
      },
    ],
  },
});

/** The headers that the client must receive; `null` if the response must be a 502. */
type Expected = Readonly<Record<string, string | undefined>> | null;

interface RawModeResponse {
  /** Default 200. */
  readonly status?: number;
  /** The headers besides the content type. */
  readonly headers?: readonly RawHeader[];
  readonly type?: string;
  /** Default `answers`; the route of `events` streams. */
  readonly route?: 'answers' | 'events';
  /** Bytes instead of the members above, as latin-1. */
  readonly bytes?: string;
}

type Row = readonly [name: string, title: string, response: RawModeResponse, expected: Expected];

const rejected = (status: number, title: string): Row => {
  const headers = [['location', `/${SMUGGLED}`]] as const;
  return [`status-${status}`, title, { status, headers }, null];
};

const dropped = (name: string, value: string = SMUGGLED): Row => {
  return [`header-${name}`, `the header ${name} of a provider`, { headers: [[name, value]] }, {}];
};

const reference = (name: string, title: string, value: string, location?: string): Row => {
  const headers = [['location', value]] as const;
  return [`reference-${name}`, title, { status: 201, headers }, { location }];
};

const events = (name: string, type: string, expected: Expected): Row => {
  const title = `a page as a stream of events: ${type}`;
  return [`events-${name}`, title, { type, route: 'events' }, expected];
};

const head = (...lines: string[]) => `HTTP/1.1 ${lines.join('\r\n')}\r\n\r\n`;
const LINES = ['200 OK', JSON_TYPE.join(': '), `content-length: ${BODY.length}`];

const ROWS: readonly Row[] = [
  ...[300, 301, 302, 303, 305, 306, 307, 308].map((status) =>
    rejected(status, `a redirect with ${status}`),
  ),
  ...[309, 310, 399].map((status) =>
    rejected(status, `a status without a meaning that clients follow, ${status}`),
  ),
  rejected(206, 'a part of a body that a cache would take for the whole'),
  rejected(407, 'a 407, which makes clients send credentials of a proxy'),
  rejected(421, 'a 421, which makes clients repeat the request elsewhere'),
  ['html', 'an HTML page', { type: 'text/html' }, null],
  [
    'html-error',
    'an HTML page as a 404',
    { status: 404, type: 'text/html' },
    { 'content-type': undefined, 'content-length': '0' },
  ],
  ['svg', 'an image with scripts', { type: 'image/svg+xml' }, null],
  ['second-type', 'a second content type', { type: 'application/json; a="b", text/html' }, null],
  events('second', `${EVENTS_TYPE};, text/html`, null),
  events('comma', `${EVENTS_TYPE}, text/html`, null),
  events('open-quote', `${EVENTS_TYPE}; a="b`, null),
  events('quoted', `${EVENTS_TYPE}; a="b, text/html"`, { 'content-type': EVENTS_TYPE }),
  [
    'open-ended',
    'an error that may lack digits, whose end is that of its connection',
    { bytes: `${head('404 Not Found', JSON_TYPE.join(': '))}12` },
    null,
  ],
  [
    'split-cr',
    'a header with a lone carriage return',
    { bytes: head(...LINES, `etag: "a"\rset-cookie: ${SMUGGLED}=1`) + BODY },
    null,
  ],
  [
    'split-nul',
    'a header with a NUL',
    { bytes: head(...LINES, `etag: "a\u0000${SMUGGLED}"`) + BODY },
    null,
  ],
  [
    'split-body',
    'a second response behind a 304',
    {
      bytes: head('304 Not Modified', 'content-length: 5') + head('200 OK', `etag: "${SMUGGLED}"`),
    },
    { etag: undefined },
  ],
  dropped('set-cookie', `session=${SMUGGLED}; Path=/`),
  ...['server', 'via', 'x-request-id', 'x-content-type-options'].map((name) => dropped(name)),
  dropped('alt-svc', `h3="${SMUGGLED}.example:443"`),
  dropped('strict-transport-security', `max-age=0; ${SMUGGLED}`),
  dropped('clear-site-data', `"${SMUGGLED}"`),
  ...['content-security-policy', 'surrogate-control'].map((name) => dropped(name)),
  dropped('service-worker-allowed', `/${SMUGGLED}`),
  dropped('access-control-allow-origin', `https://${SMUGGLED}.example`),
  dropped('proxy-authenticate', `Basic realm="${SMUGGLED}"`),
  dropped('modgate-actor', `system:${SMUGGLED}`),
  [
    'origin',
    'a provider that claims to be the host',
    { headers: [['modgate-origin', 'host']] },
    { 'modgate-origin': 'provider' },
  ],
  [
    'challenge',
    'a 401 that asks for a password',
    { status: 401, headers: [['www-authenticate', `Basic realm="${SMUGGLED}"`]] },
    { 'www-authenticate': 'Provider' },
  ],
  [
    'hop-by-hop',
    'a header that connection names',
    {
      headers: [
        ['connection', 'keep-alive, X-Total-Count'],
        ['x-total-count', SMUGGLED],
      ],
    },
    { 'x-total-count': undefined },
  ],
  [
    'shared-cache',
    'a response that shared caches may keep',
    { headers: [['cache-control', 'public, s-maxage=600, max-age=600']] },
    { 'cache-control': 'private, max-age=600', vary: 'authorization' },
  ],
  [
    'quoted-public',
    'a directive for shared caches inside quotes',
    { headers: [['cache-control', 'x="a, public, b"']] },
    { 'cache-control': 'private, no-store' },
  ],
  reference('outside', 'a location outside the base path', `/${SMUGGLED}`),
  reference('sibling', 'a location beside the base path', `${RAW_BASE}${SMUGGLED}/x`),
  reference('dots', 'a location with dots', `${RAW_BASE}/../${SMUGGLED}`),
  reference('encoded-dots', 'a location with encoded dots', `${RAW_BASE}/%2e%2E/${SMUGGLED}`),
  reference('backslash', 'a location with a backslash', `/\\${SMUGGLED}.example`),
  reference('two', 'two locations in one', `${RAW_BASE}/a, /${SMUGGLED}`),
  reference(
    'inside',
    'one below the base path',
    `${RAW_BASE}/items/7`,
    '/modules/raw/http/items/7',
  ),
  [
    'link-outside',
    'a link outside the base path beside one below it',
    { headers: [['link', `</${SMUGGLED}>; rel=a, <${RAW_BASE}/b>; rel=b`]] },
    { link: '</modules/raw/http/b>; rel=b' },
  ],
  [
    'link-quote',
    'a link with an open quote',
    { headers: [['link', `<${RAW_BASE}/a>; title="b, </${SMUGGLED}>; rel=c`]] },
    { link: undefined },
  ],
];

export const RAW_MODE_SCRIPTS: Scripts = Object.fromEntries(
  ROWS.map(([name, , { status = 200, headers = [], type, bytes, route = 'answers' }]) => [
    `${RAW_BASE}/${route}/${name}`,
    (_, response) => {
      if (bytes !== undefined) {
        response.socket?.end(Buffer.from(bytes, 'latin1'));
        return;
      }
      const sent = [...headers, ['content-type', type ?? 'application/json']].flat();
      response.writeHead(status, [...sent, 'content-length', `${BODY.length}`]);
      response.end(BODY);
    },
  ]),
);

export const RAW_MODE_CASES: readonly Attack[] = ROWS.map(
  ([name, title, { route = 'answers' }, expected]) => ({
    id: `raw-${name}`,
    title,
    attack: async (scene) => {
      const response = await sendOnce(scene, { target: `/modules/raw/http/${route}/${name}` });
      const text = `${JSON.stringify(response.headers)}\n${response.body.toString('latin1')}`;
      if (text.includes(SMUGGLED)) return 'a value of the provider reached the client';
      return (
        expectBystanderUncalled(scene) ??
        (expected === null ? expectProblem(response) : expectPassed(expected, response)) ??
        expectNoSecrets(scene, response)
      );
    },
  }),
);

function expectProblem(response: ReceivedResponse): Verdict {
  if (response.status !== 502) return `responded with ${response.status} instead of 502`;
  const isProblem = parseObject(response.body)?.['code'] === 'external_dependency_failure';
  return isProblem ? expectHeader(response, 'modgate-origin', 'host') : 'not the expected Problem';
}

function expectPassed(expected: Expected, response: ReceivedResponse): Verdict {
  const expectedHeaders = {
    'modgate-origin': 'provider',
    'x-content-type-options': 'nosniff',
    'content-security-policy': "sandbox; default-src 'none'",
    ...expected,
  };
  for (const [name, value] of Object.entries(expectedHeaders)) {
    const verdict = expectHeader(response, name, value);
    if (verdict !== null) return verdict;
  }
  return null;
}

function expectHeader(
  { headers }: ReceivedResponse,
  name: string,
  value: string | undefined,
): Verdict {
  const values = headerValues(headers, name);
  if (value === undefined) return values.length === 0 ? null : `the client received ${name}`;
  // A host varies by each header for credentials.
  const isExpected =
    name === 'vary'
      ? values.join().split(/, */).includes(value)
      : values.length === 1 && values[0] === value;
  return isExpected ? null : `${name} is not ${value}`;
}
