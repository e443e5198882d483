import type { Attack, AttackClass } from '../../attack-case.js';
import { expectRejected } from '../../expectations.js';
import type { RawHeader } from '../../raw-http.js';
import { type CraftedRequest, craftLines, craftRequest } from '../../request-bytes.js';
import type { Scene } from '../../scene.js';

const MIB = 1024 * 1024;
const DEPTH = 100_000;

type Row = readonly [name: string, title: string, body: string | Buffer];

const REJECTED_JSON: readonly Row[] = [
  ['empty', 'an empty body', ''],
  ['space', 'only white space', '  '],
  ['bom', 'a byte-order mark', '\ufeff{}'],
  ['bom-16', 'UTF-16', Buffer.from('\ufeff{}', 'utf16le')],
  ['bad-utf8', 'invalid UTF-8', Buffer.from('22ff22', 'hex')],
  ['overlong', 'an overlong encoding in a string', Buffer.from('22c0ae22', 'hex')],
  ['trailing', 'text after the value', '{} x'],
  ['two', 'two values', '{"a":1}{"b":2}'],
  ['nan', 'NaN', '{"a":NaN}'],
  ['infinity', 'Infinity', '[Infinity]'],
  ['hex', 'a number in hex', '[0x10]'],
  ['leading-zero', 'a leading zero', '[010]'],
  ['single-quotes', 'single quotes', "{'a':1}"],
  ['no-quotes', 'a key without quotes', '{a:1}'],
  ['comma', 'a trailing comma', '[1,]'],
  ['comment', 'a comment', '{/*a*/}'],
  ['control', 'a raw control character in a string', '"a\u0000b"'],
  ['escape', 'an unknown escape', '"\\x41"'],
  ['escape-cut', 'an escape that ends early', '"\\u00"'],
  ['line-break', 'a raw line break in a string', '"a\nb"'],
  ['plus', 'a number with a plus', '[+1]'],
  ['point', 'a number that ends with a point', '[1.]'],
  ['undefined', 'undefined', 'undefined'],
  ['comma-leading', 'a leading comma', '[,1]'],
  ['colon', 'a key without a value', '{"a"}'],
  ['separator', 'a record separator before the value', '\u001e{}'],
  ['form-feed', 'a form feed as white space', '\f{}'],
  ['nul-end', 'a NUL after the value', '{}\u0000'],
  ['unclosed', 'an unclosed object', '{"a":1'],
  ['unclosed-deep', '100,000 unclosed arrays', '['.repeat(DEPTH)],
];

/** Valid JSON, which must reach the provider unchanged. */
const UNCHANGED_JSON: readonly Row[] = [
  [
    'proto',
    'the key __proto__',
    '{"__proto__":{"admin":true},"constructor":{"prototype":{"admin":true}}}',
  ],
  ['duplicate', 'a duplicate key', '{"role":"user","role":"admin"}'],
  ['big-number', 'a number past 2^53', '{"id":12345678901234567890}'],
  ['exact-number', 'numbers that a parser would round', '[1.10,1E400,-0]'],
  ['surrogate', 'half a surrogate pair, escaped', '"\\ud800"'],
  ['escaped-key', 'an escaped key', '{"\\u0061":1,"a":2}'],
  ['deep', '100,000 arrays', '['.repeat(DEPTH) + ']'.repeat(DEPTH)],
  ['deep-objects', '50,000 objects', `${'{"a":'.repeat(50_000)}1${'}'.repeat(50_000)}`],
];

const REJECTED_ENCODINGS: readonly (readonly [name: string, value: string])[] = [
  ['gzip', 'gzip'],
  ['br', 'br'],
  ['deflate', 'deflate'],
  ['case', 'GZIP'],
  ['list', 'identity, gzip'],
  ['empty', ''],
  ['zstd', 'zstd'],
  ['old-gzip', 'x-gzip'],
  ['comma', ','],
];

const REJECTED_TYPES: readonly (readonly [name: string, headers: readonly RawHeader[]])[] = [
  ['form', [['content-type', 'application/x-www-form-urlencoded']]],
  ['text', [['content-type', 'text/plain']]],
  ['multipart', [['content-type', 'multipart/form-data; boundary=a']]],
  ['script', [['content-type', 'application/javascript']]],
  ['suffix', [['content-type', 'application/json+xml']]],
  ['parameter', [['content-type', 'text/plain; application/json']]],
  ['empty', [['content-type', '']]],
  ['comma', [['content-type', 'text/plain, application/json']]],
  [
    'twice',
    [
      ['content-type', 'application/json'],
      ['content-type', 'text/plain'],
    ],
  ],
];

const LONG_PATHS = { target: 'a'.repeat(20_000), 'target-segments': 'a/'.repeat(10_000) };

/** A backtracking expression takes minutes for these texts. The limit allows for a loaded machine. */
const MAX_RESPONSE_MS = 5_000;

const SLOW_TEXTS: readonly (readonly [
  name: string,
  title: string,
  header: string,
  value: string,
])[] = [
  ['accept', 'an accept of 8,000 parameters', 'accept', `a${';q=0'.repeat(2_500)},`],
  [
    'type',
    'a content type of 10,000 spaces',
    'content-type',
    `application/json${' ;'.repeat(5_000)}x`,
  ],
  ['scheme', 'a credential of 10,000 spaces', 'x-authorization', `Bearer${' '.repeat(10_000)}x`],
  ['id', 'an id of 10,000 characters', 'x-request-id', `${'a'.repeat(10_000)}!`],
  ['traceparent', 'a traceparent of 10,000 characters', 'traceparent', `00-${'0'.repeat(10_000)}-`],
  ['tracestate', 'a tracestate of 2,000 members', 'tracestate', 'a=b,'.repeat(2_000)],
  ['connection', 'a connection of 5,000 names', 'connection', 'a ,'.repeat(4_000)],
  ['language', 'an accept-language of 3,000 ranges', 'accept-language', 'en;q=0.1,'.repeat(1_300)],
];

export const BODY_CASES: readonly Attack[] = [
  ...REJECTED_JSON.map(([name, title, body]) => rejectPost('json', name, title, { body })),
  ...UNCHANGED_JSON.map(forwardPost),
  ...REJECTED_ENCODINGS.map(([name, value]) =>
    rejectPost('decompression', `request-${name}`, `a body with a content-encoding: ${name}`, {
      body: '{}',
      headers: [
        ['content-type', 'application/json'],
        ['content-encoding', value],
      ],
    }),
  ),
  ...REJECTED_TYPES.map(([name, headers]) =>
    rejectPost('admin', `form-${name}`, `a body with the content type of a form: ${name}`, {
      body: '{}',
      headers,
    }),
  ),
  rejectPost('oversize', 'body', 'a body of 1 MiB and one byte', {
    body: `"${'a'.repeat(MIB - 1)}"`,
  }),
  {
    ...describe('oversize', 'body-declared', 'a body that declares 10 GB'),
    send: (scene) => craftItems(scene, ['Content-Length: 10000000000']),
    rejected: 400,
  },
  rejectDescribed('schema', 'a member that a shared schema rejects', [
    { name: 'a', next: { name: 1 } },
  ]),
  rejectDescribed('schema-costly', 'a body whose shared schemas multiply at each step', [
    { deep: true },
  ]),
  rejectAnonymous('docs', 'a page that accepts no body', '/docs'),
  rejectAnonymous('sign-in', 'the sign-in of the console', '/console/api/session'),
  rejectAnonymous('console', 'a module behind the console', '/console/api/modules/shop/http/items'),
  {
    ...describe('oversize', 'body-chunks', 'a body of 2 MiB in chunks'),
    send: (scene) => {
      const chunks = `10000\r\n${'1'.repeat(0x10000)}\r\n`.repeat(32);
      return craftItems(scene, ['Transfer-Encoding: chunked'], `${chunks}0\r\n\r\n`);
    },
    rejected: 400,
  },
  {
    ...describe('oversize', 'delete-body', 'a DELETE with a body'),
    send: { method: 'DELETE', path: '/items/1', body: '{}' },
    rejected: 400,
  },
  ...Object.entries(LONG_PATHS).map(
    ([name, text], index): Attack => ({
      ...describe('oversize', name, `a target of 20 kB (${index + 1})`),
      needs: 'token',
      send: { path: `/items/${text}` },
      rejected: [400, 404, 414, 431],
      closes: true,
    }),
  ),
  rejectHead('header', 'a header of 20 kB', [['x-long', 'a'.repeat(20_000)]]),
  rejectHead('header-name', 'a name of 20 kB', [['x'.repeat(20_000), 'a']]),
  rejectHead(
    'headers',
    '5,000 headers',
    Array.from({ length: 5_000 }, (_, index) => [`x-${index}`, 'a'] as const),
  ),
  ...SLOW_TEXTS.map(([name, title, header, value]) => {
    const request = { path: '/items/%', headers: [[header, value]] as const };
    return rejectInTime(name, title, request, [400, 404, 401]);
  }),
  rejectInTime(
    'target',
    'a target of 1,500 encoded characters and dots',
    { path: `/files/${'%61;.'.repeat(1_500)}/%2e` },
    [404],
  ),
];

function rejectInTime(
  name: string,
  title: string,
  request: CraftedRequest,
  statuses: readonly number[],
): Attack {
  return {
    ...describe('redos', name, title),
    needs: 'token',
    attack: async (scene) => {
      const from = performance.now();
      const failure = await expectRejected(scene, craftRequest(scene, request), { statuses });
      const tookMs = performance.now() - from;
      return failure ?? (tookMs > MAX_RESPONSE_MS ? `took ${Math.round(tookMs)} ms` : null);
    },
  };
}

function rejectPost(
  attackClass: AttackClass,
  name: string,
  title: string,
  { body, headers = [] }: Pick<CraftedRequest, 'body' | 'headers'>,
): Attack {
  return {
    ...describe(attackClass, name, title),
    send: { method: 'POST', path: '/items', body: body ?? '', headers },
    rejected: 400,
  };
}

function forwardPost([name, title, sent]: Row): Attack {
  return {
    ...describe('json', `kept-${name}`, title),
    send: { method: 'POST', path: '/items', body: sent },
    forwarded: ({ body }) =>
      body.equals(Buffer.from(sent)) ? null : 'the provider received other bytes',
  };
}

function rejectHead(name: string, title: string, headers: readonly RawHeader[]): Attack {
  return {
    ...describe('oversize', name, title),
    needs: 'token',
    send: { headers },
    rejected: 431,
    closes: true,
  };
}

function craftItems(scene: Scene, lines: readonly string[], rest = ''): Buffer {
  const all = ['Content-Type: application/json', ...lines];
  return craftLines(scene, `POST ${scene.base}/items HTTP/1.1`, all, rest);
}

/** A body that violates the schema of its route. */
function rejectDescribed(name: string, title: string, body: unknown): Attack {
  return {
    ...describe('json', name, title),
    send: { method: 'POST', path: '/described', body: JSON.stringify(body) },
    rejected: 400,
  };
}

function describe(attackClass: AttackClass, name: string, title: string) {
  return { id: `${attackClass}-${name}`, title };
}

/** Announces a body that it never sends, which must not occupy the host's memory. */
function rejectAnonymous(name: string, title: string, target: string): Attack {
  return {
    ...describe('oversize', `anonymous-${name}`, `a body without credentials for ${title}`),
    send: ({ authority }) => {
      const head = [
        `POST ${target} HTTP/1.1`,
        `host: ${authority}`,
        'sec-fetch-site: same-origin',
        'content-type: application/json',
        `content-length: ${MIB}`,
      ];
      return Buffer.from(`${head.join('\r\n')}\r\n\r\n`);
    },
    rejected: 413,
  };
}
