import type { RawHeader } from './raw-http.js';
import type { Script } from './recording-provider.js';

/** The base path of the module's endpoint in raw mode. */
export const RAW_BASE = '/base';
/** Part of every value that must not reach a client. */
export const SMUGGLED = 'smuggled';

const JSON_TYPE: RawHeader = ['content-type', 'application/json'];
const BODY = '{"ok":true}';

/** A response of the provider in raw mode, with its expected result. */
export interface RawModeAttack {
  readonly name: string;
  readonly title: string;
  /** Default 200. */
  readonly status?: number;
  /** The headers besides the content type. */
  readonly headers?: readonly RawHeader[];
  readonly type?: string;
  /** Bytes instead of the members above, as latin-1. */
  readonly bytes?: string;
  /** The headers that the client must receive; `null` if the response must be a 502. */
  readonly expected: Readonly<Record<string, string | undefined>> | null;
}

const rejected = (status: number, title: string): RawModeAttack => ({
  name: `status-${status}`,
  title,
  status,
  headers: [['location', `/${SMUGGLED}`]],
  expected: null,
});

const dropped = (name: string, value: string = SMUGGLED): RawModeAttack => ({
  name: `header-${name}`,
  title: `the header ${name} of a provider`,
  headers: [[name, value]],
  expected: {},
});

const reference = (
  name: string,
  title: string,
  value: string,
  expected: string | undefined,
): RawModeAttack => ({
  name: `reference-${name}`,
  title,
  status: 201,
  headers: [['location', value]],
  expected: { location: expected },
});

const head = (...lines: string[]) => `HTTP/1.1 ${lines.join('\r\n')}\r\n\r\n`;
const LINES = ['200 OK', JSON_TYPE.join(': '), `content-length: ${BODY.length}`];

export const RAW_MODE_ATTACKS: readonly RawModeAttack[] = [
  ...[300, 301, 302, 303, 305, 306, 307, 308].map((status) =>
    rejected(status, `a redirect with ${status}`),
  ),
  ...[309, 310, 399].map((status) =>
    rejected(status, `a status without a meaning that clients follow, ${status}`),
  ),
  rejected(206, 'a part of a body that a cache would take for the whole'),
  rejected(407, 'a 407, which makes clients send credentials of a proxy'),
  rejected(421, 'a 421, which makes clients repeat the request elsewhere'),
  { name: 'html', title: 'an HTML page', type: 'text/html', expected: null },
  {
    name: 'html-error',
    title: 'an HTML page as a 404',
    status: 404,
    type: 'text/html',
    expected: { 'content-type': undefined, 'content-length': '0' },
  },
  { name: 'svg', title: 'an image with scripts', type: 'image/svg+xml', expected: null },
  {
    name: 'second-type',
    title: 'a second content type behind a comma',
    type: 'application/json; a="b", text/html',
    expected: null,
  },
  {
    name: 'open-ended',
    title: 'an error whose end is that of its connection',
    bytes: `${head('404 Not Found', JSON_TYPE.join(': '))}[1,2]`,
    expected: null,
  },
  {
    name: 'split-cr',
    title: 'a header with a lone carriage return',
    bytes: head(...LINES, `etag: "a"\rset-cookie: ${SMUGGLED}=1`) + BODY,
    expected: null,
  },
  {
    name: 'split-nul',
    title: 'a header with a NUL',
    bytes: head(...LINES, `etag: "a\u0000${SMUGGLED}"`) + BODY,
    expected: null,
  },
  {
    name: 'split-body',
    title: 'a second response behind a 304',
    bytes: head('304 Not Modified', 'content-length: 5') + head('200 OK', `etag: "${SMUGGLED}"`),
    expected: { etag: undefined },
  },
  dropped('set-cookie', `session=${SMUGGLED}; Path=/`),
  dropped('server'),
  dropped('via'),
  dropped('alt-svc', `h3="${SMUGGLED}.example:443"`),
  dropped('strict-transport-security', `max-age=0; ${SMUGGLED}`),
  dropped('clear-site-data', `"${SMUGGLED}"`),
  dropped('content-security-policy', SMUGGLED),
  dropped('service-worker-allowed', `/${SMUGGLED}`),
  dropped('access-control-allow-origin', `https://${SMUGGLED}.example`),
  dropped('surrogate-control', SMUGGLED),
  dropped('proxy-authenticate', `Basic realm="${SMUGGLED}"`),
  dropped('x-request-id'),
  dropped('modgate-actor', `system:${SMUGGLED}`),
  dropped('x-content-type-options'),
  {
    name: 'origin',
    title: 'a provider that claims to be the host',
    headers: [['modgate-origin', 'host']],
    expected: { 'modgate-origin': 'provider' },
  },
  {
    name: 'challenge',
    title: 'a 401 that asks for a password',
    status: 401,
    headers: [['www-authenticate', `Basic realm="${SMUGGLED}"`]],
    expected: { 'www-authenticate': 'Provider' },
  },
  {
    name: 'hop-by-hop',
    title: 'a header that connection names',
    headers: [
      ['connection', 'keep-alive, X-Total-Count'],
      ['x-total-count', SMUGGLED],
    ],
    expected: { 'x-total-count': undefined },
  },
  {
    name: 'shared-cache',
    title: 'a response that shared caches may keep',
    headers: [['cache-control', 'public, s-maxage=600, max-age=600']],
    expected: { 'cache-control': 'private, max-age=600', vary: 'authorization' },
  },
  {
    name: 'quoted-public',
    title: 'a directive for shared caches inside quotes',
    headers: [['cache-control', 'x="a, public, b"']],
    expected: { 'cache-control': 'private, no-store' },
  },
  reference('outside', 'a location outside the base path', `/${SMUGGLED}`, undefined),
  reference('sibling', 'a location beside the base path', `${RAW_BASE}${SMUGGLED}/x`, undefined),
  reference('dots', 'a location with dots', `${RAW_BASE}/../${SMUGGLED}`, undefined),
  reference(
    'encoded-dots',
    'a location with encoded dots',
    `${RAW_BASE}/%2e%2E/${SMUGGLED}`,
    undefined,
  ),
  reference(
    'backslash',
    'a location that begins with a backslash',
    `/\\${SMUGGLED}.example`,
    undefined,
  ),
  reference('two', 'two locations in one', `${RAW_BASE}/a, /${SMUGGLED}`, undefined),
  reference(
    'inside',
    'a location below the base path',
    `${RAW_BASE}/items/7`,
    '/modules/raw/http/items/7',
  ),
  {
    name: 'link-outside',
    title: 'a link outside the base path beside one below it',
    headers: [['link', `</${SMUGGLED}>; rel=a, <${RAW_BASE}/b>; rel=b`]],
    expected: { link: '</modules/raw/http/b>; rel=b' },
  },
  {
    name: 'link-quote',
    title: 'a link with an open quote',
    headers: [['link', `<${RAW_BASE}/a>; title="b, </${SMUGGLED}>; rel=c`]],
    expected: { link: undefined },
  },
];

export function createRawModeScripts(): ReadonlyMap<string, Script> {
  return new Map(
    RAW_MODE_ATTACKS.map(({ name, status = 200, headers = [], type, bytes }) => [
      `${RAW_BASE}/answers/${name}`,
      (_, response) => {
        if (bytes !== undefined) {
          response.socket?.end(Buffer.from(bytes, 'latin1'));
          return;
        }
        const sent = [...headers, ['content-type', type ?? 'application/json']].flat();
        response.writeHead(status, [...sent, 'content-length', `${BODY.length}`] as string[]);
        response.end(BODY);
      },
    ]),
  );
}
