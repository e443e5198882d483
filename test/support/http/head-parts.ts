/** A part of a head, with so many bytes. */
export interface HeadPart {
  /** Follows the path of the route. */
  readonly path?: string;
  /** Lines of headers; they replace those of the route with the same name. */
  readonly headers?: readonly string[];
}

export type HeadParts = Readonly<Record<string, (bytes: number) => HeadPart>>;

/** Fewer than `--max-headers`. */
const MAX_LINES = 1_900;

const PATHS = [
  ...['/a', '/%2F', '/%2525', '%2525', '%25', '%61', 'a', ';', '%2F', '%2e', '/..', '//', '/;'],
  ...['-', '.', '-.', '%C3%A9', '%ff', '/%ff', '/:', '%', '%25%32%35'],
];
const QUERIES = [
  ...['a&', 'a=1&', 'b=1&', 'c=', '%61=%62&', 'z&', '&', '=', '+', '%', '%&', '%ff&', 'a=%ff&'],
  ...['a=%C3%A9&', 'x', '?', 'q[]=1&', 'b=9', 'c=ab', 'module=shop&', 'issuer=a&', '%00&'],
];

/** What the values of headers that the host reads or forwards consist of. */
const VALUES: Readonly<Record<string, readonly string[]>> = {
  accept: ['a,', 'a/b;q=0.1,', ';q=0', 'text/html,', '*/*,', '"', 'a/b;x="\\",', ' ,'],
  'accept-encoding': ['gzip,', ' ,'],
  'accept-language': ['en;q=0.1,', '-'],
  'access-control-request-headers': ['a,', 'authorization,', ' ,'],
  'access-control-request-method': ['A'],
  baggage: ['a=b,', ';'],
  'cache-control': ['no-cache,', 'max-age=1,', 'a="', ','],
  connection: ['a,', 'a ,', ',', 'x-a,'],
  'content-encoding': ['a,'],
  'content-length': ['0'],
  'content-type': [' ;', 'a/b;', ';a="', 'application/json;', '"', 'a=a;'],
  cookie: ['a=b;', ';', '=', 'a', '__Host-modgate-session=x;', 'modgate-a=1;', '"', 'a=12345678;'],
  expect: ['a'],
  forwarded: ['for=1;', ',', '"'],
  host: ['a', 'a.', ':1', '[::', '127.0.0.1:'],
  'idempotency-key': ['a', ' '],
  'if-match': ['"a",'],
  'if-modified-since': ['a'],
  'if-none-match': ['"a",', 'W/"a",', '*,', '"'],
  'if-range': ['"'],
  'last-event-id': ['a'],
  'mcp-protocol-version': ['a'],
  'mcp-session-id': ['a'],
  'modgate-explain-as': ['a', 'a:', 'a,'],
  origin: ['a', 'https://a.', 'http://', ':'],
  prefer: ['a,', 'a=b;'],
  'proxy-authorization': ['a', 'a '],
  range: ['bytes=0-1,', '0-,'],
  'sec-fetch-site': ['a'],
  'sec-websocket-extensions': ['a;', 'permessage-deflate;a,', 'a="', ','],
  'sec-websocket-key': ['a'],
  'sec-websocket-protocol': ['a,', 'modgate.bearer.', ', '],
  te: ['a,'],
  traceparent: ['00-', '0'],
  tracestate: ['a=b,', ',', 'a', '=', ' ,'],
  trailer: ['a,'],
  'transfer-encoding': ['chunked,'],
  upgrade: ['a,', 'websocket,'],
  'user-agent': ['a', '(;'],
  via: ['a,'],
  'x-any': ['a', 'a,', '\xff'],
  'x-correlation-id': ['a'],
  // From the right, the first entry that is no address ends the search.
  'x-forwarded-for': [',10.0.0.1', ',', ',1', ',[::ffff:10.0.0.1]:1', ',::ffff:10.0.0.1'],
  'x-forwarded-host': ['a,'],
  'x-forwarded-proto': ['a,', ' '],
  'x-request-id': ['a', '!'],
};

/** Short headers that may be repeated. */
const REPEATED: Readonly<Record<string, string>> = {
  a: 'b',
  accept: 'a',
  'access-control-request-headers': 'a',
  authorization: 'Bearer a',
  'cache-control': 'a',
  connection: 'a',
  'content-type': 'a',
  cookie: 'a=12345678',
  forwarded: 'a',
  host: 'a',
  'if-none-match': '"a"',
  origin: 'a',
  prefer: 'a',
  'sec-websocket-protocol': 'a',
  tracestate: 'a=b',
  via: 'a',
  'x-any': 'b',
  'x-forwarded-for': '10.0.0.1',
  'x-request-id': 'a',
};

const CREDENTIALS: Readonly<Record<string, (bytes: number) => string>> = {
  'signed token': (bytes) => `Bearer ${createToken('{"alg":"RS256","kid":"a"}', bytes)}`,
  'signed token with a deep head': (bytes) => {
    const depth = Math.floor(bytes / 3);
    const head = `{"alg":"RS256","a":${'['.repeat(depth)}${']'.repeat(depth)}}`;
    return `Bearer ${createToken(head, 0)}`;
  },
  'long token': (bytes) => `Bearer ${fill('a', bytes)}`,
  'token of dots': (bytes) => `Bearer ${fill('.', bytes)}`,
  'token of spaces': (bytes) => `Bearer${fill(' ', bytes)}x`,
  'development token with scopes': (bytes) => `Bearer dev-service:x:${fill('a.b,', bytes)}`,
  'development token of colons': (bytes) => `Bearer dev-service:${fill(':', bytes)}`,
  'name and password': (bytes) => `Basic ${toBase64(fill('a:', (bytes * 3) / 4))}`,
  'no base64': (bytes) => `Basic ${fill('%', bytes)}`,
  words: (bytes) => fill('a ', bytes),
  parameters: (bytes) => `Digest ${fill('a="b",', bytes)}`,
};

/** Each part of a head in which bytes can grow: long ones, and many short ones. */
export const HEAD_PARTS: HeadParts = {
  ...toParts('path', PATHS, (text) => ({ path: text })),
  ...toParts('query', QUERIES, (text) => ({ path: `?${text}` })),
  ...Object.assign(
    {},
    ...Object.entries(VALUES).map(([name, units]) =>
      toParts(name, units, (text) => ({ headers: [`${name}: ${text}`] })),
    ),
  ),
  ...Object.fromEntries(
    Object.entries(REPEATED).map(([name, value]) => [
      `many ${name}`,
      (bytes: number) => ({ headers: repeat(`${name}: ${value}`, bytes) }),
    ]),
  ),
  ...Object.fromEntries(
    Object.entries(CREDENTIALS).map(([title, write]) => [
      title,
      (bytes: number) => ({ headers: [`authorization: ${write(bytes)}`] }),
    ]),
  ),
  'many names': (bytes) => ({ headers: listLines(bytes, 9) }),
  'many names in connection': (bytes) => {
    const lines = listLines(bytes, 16);
    return { headers: [`connection: ${lines.map((_, n) => `x${n}`).join()}`, ...lines] };
  },
  'many cookies': (bytes) => ({ headers: [writeCookies(bytes)] }),
  'many cookies and an encoded path': (bytes) => ({
    path: fill('%2525', bytes / 2),
    headers: [writeCookies(bytes / 2)],
  }),
  'many cookies and encoded segments': (bytes) => ({
    path: fill('/%2525', bytes / 2),
    headers: [writeCookies(bytes / 2)],
  }),
  'cookies with one start and a path of it': (bytes) => ({
    path: `/${fill('a', bytes / 2)}`,
    headers: [`cookie: ${fill(`${'a='}${'a'.repeat(63)}b;`, bytes / 2)}`],
  }),
};

function toParts(
  name: string,
  units: readonly string[],
  toPart: (text: string) => HeadPart,
): HeadParts {
  return Object.fromEntries(
    units.map((unit) => [`${name} of '${unit}'`, (bytes: number) => toPart(fill(unit, bytes))]),
  );
}

function fill(unit: string, bytes: number): string {
  return unit.repeat(Math.max(1, Math.floor(bytes / unit.length)));
}

function repeat(line: string, bytes: number): string[] {
  const count = Math.min(MAX_LINES, Math.floor(bytes / (line.length + 2)));
  return Array.from({ length: count }, () => line);
}

function listLines(bytes: number, bytesEach: number): string[] {
  const count = Math.min(MAX_LINES, Math.floor(bytes / bytesEach));
  return Array.from({ length: count }, (_, index) => `x${index}: a`);
}

function writeCookies(bytes: number): string {
  const count = Math.floor(bytes / 12);
  const pairs = Array.from({ length: count }, (_, index) => `a=${10_000_000 + index}`);
  return `cookie: ${pairs.join('; ')}`;
}

function createToken(head: string, bytes: number): string {
  const claims = `{"iss":"https://issuer.test","a":"${fill('x', (bytes * 2) / 3)}"}`;
  return [head, claims, 'signature'].map((part) => toBase64(part, 'base64url')).join('.');
}

function toBase64(text: string, encoding: 'base64' | 'base64url' = 'base64'): string {
  return Buffer.from(text).toString(encoding);
}
