/** A response in the exact bytes that the selftest's provider sends, before it closes the connection. */
interface RawResponseBytes {
  readonly name: string;
  readonly title: string;
  /** Latin-1. */
  readonly bytes: string;
}

type Variant = readonly [name: string, title: string, varied: string];

const OK = 'HTTP/1.1 200 OK';
const JSON_TYPE = 'content-type: application/json';
const LENGTH = 'content-length: 11';
const CHUNKED = 'transfer-encoding: chunked';
const BODY = '{"ok":true}';
const CHUNKS = `b\r\n${BODY}\r\n0\r\n\r\n`;
const LONG_TEXT = 'x'.repeat(20_000);

const CUT: readonly RawResponseBytes[] = [
  respond('cut-length', 'a body shorter than its length', ['content-length: 100'], BODY),
  respond('cut-chunk', 'a chunk that ends early', [CHUNKED], 'b\r\n{"ok'),
  respond('cut-chunks', 'a complete body without the last chunk', [CHUNKED], `b\r\n${BODY}\r\n`),
  respond('cut-unknown', 'a number that may lack digits', [], '12'),
  { name: 'cut-head', title: 'a head that ends early', bytes: `${OK}\r\ncontent-type: appl` },
];

const FRAMINGS: readonly RawResponseBytes[] = [
  respond('length-twice', 'two lengths that differ', [LENGTH, 'content-length: 12'], BODY),
  respond('length-list', 'a list of lengths', ['content-length: 11, 11'], BODY),
  respond('length-sign', 'a length with a sign', ['content-length: +11'], BODY),
  respond('length-hex', 'a length in hex', ['content-length: 0xb'], BODY),
  respond('length-short', 'a body longer than its length', ['content-length: 5'], BODY),
  respond('length-chunks', 'a length and chunks', [LENGTH, CHUNKED], CHUNKS),
  respond('coding-unknown', 'an unknown coding', ['transfer-encoding: x'], BODY),
  respond('coding-last', 'chunks before another coding', [`${CHUNKED}, identity`], CHUNKS),
  respond('coding-twice', 'two codings', [CHUNKED, 'transfer-encoding: identity'], CHUNKS),
  respond(
    'chunk-size',
    'a chunk size that is not a number',
    [CHUNKED],
    `zz\r\n${BODY}\r\n0\r\n\r\n`,
  ),
  respond('chunk-huge', 'a chunk size beyond 64 bits', [CHUNKED], `${'f'.repeat(17)}\r\n${BODY}`),
  respond('chunk-lf', 'chunks with bare LFs', [CHUNKED], `b\n${BODY}\n0\n\n`),
];

const HEADERS: readonly RawResponseBytes[] = (
  [
    ['header-cr', 'a bare CR within a header', 'x-a: b\rset-cookie: a=b'],
    ['header-lf', 'a bare LF within a header', 'x-a: b\nset-cookie: a=b'],
    ['header-nul', 'a NUL within a header', 'x-a: b\0c'],
    ['header-fold', 'a folded header', 'x-a: b\r\n set-cookie: a=b'],
    ['header-space', 'a space within a name', 'x a: b'],
    ['header-colon', 'a header without a colon', 'x-a'],
    ['header-no-name', 'a header without a name', ': b'],
    ['type-twice', 'two content types', 'content-type: text/html'],
    ['encoding-zstd', 'a body in zstd', 'content-encoding: zstd'],
    ['encoding-empty', 'an empty encoding', 'content-encoding:'],
    ['encoding-list', 'two encodings', 'content-encoding: identity, gzip'],
  ] satisfies Variant[]
).map(([name, title, line]) => respond(name, title, [line, LENGTH], BODY));

const STATUS_LINES: readonly RawResponseBytes[] = (
  [
    ['protocol', 'another protocol', 'ICY 200 OK'],
    ['version', 'HTTP/1.2', 'HTTP/1.2 200 OK'],
    ['status-letters', 'a status with a letter', 'HTTP/1.1 20x OK'],
    ['status-low', 'the status 099', 'HTTP/1.1 099 OK'],
    ['status-high', 'the status 600', 'HTTP/1.1 600 OK'],
    ['status-none', 'no status', 'HTTP/1.1'],
    ['switching', 'a switch to another protocol', 'HTTP/1.1 101 OK\r\nupgrade: websocket'],
    ['status-300', 'a choice of locations', 'HTTP/1.1 300 OK\r\nlocation: /items'],
    ['status-304', 'a 304 without a condition', 'HTTP/1.1 304 OK'],
    ['status-305', 'a proxy to use', 'HTTP/1.1 305 OK\r\nlocation: /items'],
    ['status-399', 'an unknown redirect', 'HTTP/1.1 399 OK\r\nlocation: /items'],
    ['status-401', 'a demand for credentials', 'HTTP/1.1 401 OK\r\nwww-authenticate: Basic'],
    ['status-407', 'a demand of a proxy', 'HTTP/1.1 407 OK\r\nproxy-authenticate: Basic'],
    ['continues', '100 interim responses', 'HTTP/1.1 100 Continue\r\n\r\n'.repeat(100) + OK],
  ] satisfies Variant[]
).map(([name, title, line]) => respond(name, title, [LENGTH], BODY, line));

const BODIES: readonly RawResponseBytes[] = (
  [
    ['bom', 'two byte-order marks', '\xef\xbb\xbf\xef\xbb\xbf{}'],
    ['utf-16', 'UTF-16', '\xff\xfe{\0}\0'],
    ['bad-utf8', 'invalid UTF-8', '"\xff"'],
    ['nan', 'NaN', 'NaN'],
    ['two', 'two values', '{}{}'],
    ['nul', 'a NUL after the value', '{}\0'],
    ['guarded', 'a prefix against inclusion', ")]}'\n{}"],
  ] satisfies Variant[]
).map(([name, title, body]) =>
  respond(`body-${name}`, title, [`content-length: ${body.length}`], body),
);

const TEXTS: readonly RawResponseBytes[] = [
  { name: 'no-http', title: 'text that is not HTTP', bytes: '-ERR unknown command\r\n' },
  { name: 'tls', title: 'a TLS alert on a clear connection', bytes: '\x15\x03\x01\0\x02\x02\x46' },
];

/** Responses that must become a 502. */
export const REJECTED_RESPONSES: readonly RawResponseBytes[] = [
  ...CUT,
  ...FRAMINGS,
  ...HEADERS,
  ...STATUS_LINES,
  ...BODIES,
  ...TEXTS,
];

/** Valid responses. Only the value of the body may reach the client. */
export const STRIPPED_RESPONSES: readonly RawResponseBytes[] = [
  respond('early-hints', 'interim headers', [LENGTH], BODY, `${interim('103', 'link')}${OK}`),
  respond('processing', 'an interim response', [LENGTH], BODY, `${interim('102', 'x-a')}${OK}`),
  respond('reason', 'markup as the reason', [LENGTH], BODY, 'HTTP/1.1 200 <script>'),
  respond('trailers', 'trailers', [CHUNKED], CHUNKS.replace(/\r\n$/, 'set-cookie: a=b\r\n\r\n')),
  respond('extension', 'a long chunk extension', [CHUNKED], CHUNKS.replace('b', `b;${LONG_TEXT}`)),
  respond('partial', 'a part that was not asked for', [LENGTH], BODY, 'HTTP/1.1 206 OK'),
  respond(
    'cookies',
    'cookies and the policies of a site',
    [LENGTH, 'set-cookie: a=b', 'strict-transport-security: max-age=1', 'clear-site-data: "*"'],
    BODY,
  ),
  respond(
    'cors',
    'permissions for other origins',
    [LENGTH, 'access-control-allow-origin: *', 'access-control-allow-credentials: true'],
    BODY,
  ),
];

function respond(
  name: string,
  title: string,
  lines: readonly string[],
  body: string,
  statusLine = OK,
): RawResponseBytes {
  const head = [statusLine, JSON_TYPE, ...lines].join('\r\n');
  return { name, title, bytes: `${head}\r\n\r\n${body}` };
}

function interim(status: string, header: string): string {
  return `HTTP/1.1 ${status} Wait\r\n${header}: </evil>; rel=preload\r\n\r\n`;
}
