import type { Attack, AttackClass } from '../../attack-case.js';
import { expectForwarded, expectRejected } from '../../expectations.js';
import type { RawHeader } from '../../raw-http.js';
import { craftLines, craftRequest } from '../../request-bytes.js';
import type { Scene } from '../../scene.js';

const MIB = 1024 * 1024;
const DEPTH = 100_000;

interface Row {
  readonly name: string;
  readonly title: string;
  readonly body: string | Buffer;
  readonly headers?: readonly RawHeader[];
}

const REJECTED_JSON: readonly Row[] = [
  { name: 'empty', title: 'an empty body', body: '' },
  { name: 'space', title: 'only white space', body: '  ' },
  { name: 'bom', title: 'a byte-order mark', body: '\ufeff{}' },
  { name: 'bom-16', title: 'UTF-16', body: Buffer.from('\ufeff{}', 'utf16le') },
  { name: 'bad-utf8', title: 'invalid UTF-8', body: Buffer.from('22ff22', 'hex') },
  {
    name: 'overlong',
    title: 'an overlong encoding in a string',
    body: Buffer.from('22c0ae22', 'hex'),
  },
  { name: 'trailing', title: 'text after the value', body: '{} x' },
  { name: 'two', title: 'two values', body: '{"a":1}{"b":2}' },
  { name: 'nan', title: 'NaN', body: '{"a":NaN}' },
  { name: 'infinity', title: 'Infinity', body: '[Infinity]' },
  { name: 'hex', title: 'a number in hex', body: '[0x10]' },
  { name: 'leading-zero', title: 'a leading zero', body: '[010]' },
  { name: 'single-quotes', title: 'single quotes', body: "{'a':1}" },
  { name: 'no-quotes', title: 'a key without quotes', body: '{a:1}' },
  { name: 'comma', title: 'a trailing comma', body: '[1,]' },
  { name: 'comment', title: 'a comment', body: '{/*a*/}' },
  { name: 'control', title: 'a raw control character in a string', body: '"a\u0000b"' },
  { name: 'escape', title: 'an unknown escape', body: '"\\x41"' },
  { name: 'escape-cut', title: 'an escape that ends early', body: '"\\u00"' },
  { name: 'line-break', title: 'a raw line break in a string', body: '"a\nb"' },
  { name: 'plus', title: 'a number with a plus', body: '[+1]' },
  { name: 'point', title: 'a number that ends with a point', body: '[1.]' },
  { name: 'undefined', title: 'undefined', body: 'undefined' },
  { name: 'comma-leading', title: 'a leading comma', body: '[,1]' },
  { name: 'colon', title: 'a key without a value', body: '{"a"}' },
  { name: 'separator', title: 'a record separator before the value', body: '\u001e{}' },
  { name: 'form-feed', title: 'a form feed as white space', body: '\f{}' },
  { name: 'nul-end', title: 'a NUL after the value', body: '{}\u0000' },
  { name: 'unclosed', title: 'an unclosed object', body: '{"a":1' },
  { name: 'unclosed-deep', title: '100,000 unclosed arrays', body: '['.repeat(DEPTH) },
];

/** Valid JSON, which must reach the provider unchanged. */
const UNCHANGED_JSON: readonly Row[] = [
  {
    name: 'proto',
    title: 'the key __proto__',
    body: '{"__proto__":{"admin":true},"constructor":{"prototype":{"admin":true}}}',
  },
  { name: 'duplicate', title: 'a duplicate key', body: '{"role":"user","role":"admin"}' },
  { name: 'big-number', title: 'a number past 2^53', body: '{"id":12345678901234567890}' },
  { name: 'exact-number', title: 'numbers that a parser would round', body: '[1.10,1E400,-0]' },
  { name: 'surrogate', title: 'half a surrogate pair, escaped', body: '"\\ud800"' },
  { name: 'escaped-key', title: 'an escaped key', body: '{"\\u0061":1,"a":2}' },
  { name: 'deep', title: '100,000 arrays', body: '['.repeat(DEPTH) + ']'.repeat(DEPTH) },
  {
    name: 'deep-objects',
    title: '50,000 objects',
    body: `${'{"a":'.repeat(50_000)}1${'}'.repeat(50_000)}`,
  },
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

export const BODY_CASES: readonly Attack[] = [
  ...REJECTED_JSON.map((row) => rejectPost('json', row.name, row.title, row)),
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
    attack: (scene) =>
      expectRejected(
        scene,
        craftLines(scene, `POST ${scene.base}/items HTTP/1.1`, [
          'Content-Type: application/json',
          'Content-Length: 10000000000',
        ]),
        { statuses: [400] },
      ),
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
    attack: (scene) => {
      const chunk = `10000\r\n${'1'.repeat(0x10000)}\r\n`.repeat(32);
      const lines = ['Content-Type: application/json', 'Transfer-Encoding: chunked'];
      const line = `POST ${scene.base}/items HTTP/1.1`;
      return expectRejected(scene, craftLines(scene, line, lines, `${chunk}0\r\n\r\n`), {
        statuses: [400],
      });
    },
  },
  {
    ...describe('oversize', 'delete-body', 'a DELETE with a body'),
    attack: (scene) =>
      expectRejected(
        scene,
        craftRequest(scene, { method: 'DELETE', target: `${scene.base}/items/1`, body: '{}' }),
        { statuses: [400] },
      ),
  },
  ...['a'.repeat(20_000), 'a/'.repeat(10_000)].map(
    (text, index): Attack => ({
      ...describe(
        'oversize',
        index === 0 ? 'target' : 'target-segments',
        `a target of 20 kB (${index + 1})`,
      ),
      needs: 'token',
      attack: (scene) =>
        expectRejected(scene, craftRequest(scene, { target: `${scene.base}/items/${text}` }), {
          statuses: [400, 404, 414, 431],
          closes: true,
        }),
    }),
  ),
  rejectHead('header', 'a header of 20 kB', [['x-long', 'a'.repeat(20_000)]]),
  rejectHead('header-name', 'a name of 20 kB', [['x'.repeat(20_000), 'a']]),
  rejectHead(
    'headers',
    '5,000 headers',
    Array.from({ length: 5_000 }, (_, index) => [`x-${index}`, 'a'] as const),
  ),
  ...craftSlowTexts().map(
    ([name, title, headers]): Attack => ({
      ...describe('redos', name, title),
      needs: 'token',
      attack: async (scene) => {
        const from = performance.now();
        const bytes = craftRequest(scene, { target: `${scene.base}/items/%`, headers });
        const failure = await expectRejected(scene, bytes, { statuses: [400, 404, 401] });
        const tookMs = performance.now() - from;
        return failure ?? (tookMs > MAX_RESPONSE_MS ? `took ${Math.round(tookMs)} ms` : null);
      },
    }),
  ),
  {
    ...describe('redos', 'target', 'a target of 1,500 encoded characters and dots'),
    needs: 'token',
    attack: async (scene) => {
      const from = performance.now();
      const target = `${scene.base}/files/${'%61;.'.repeat(1_500)}/%2e`;
      const failure = await expectRejected(scene, craftRequest(scene, { target }), {
        statuses: [404],
      });
      const tookMs = performance.now() - from;
      return failure ?? (tookMs > MAX_RESPONSE_MS ? `took ${Math.round(tookMs)} ms` : null);
    },
  },
];

/** A backtracking expression takes minutes for these texts. The limit allows for a loaded machine. */
const MAX_RESPONSE_MS = 5_000;

function craftSlowTexts(): readonly (readonly [string, string, readonly RawHeader[]])[] {
  return [
    ['accept', 'an accept of 8,000 parameters', [['accept', `a${';q=0'.repeat(2_500)},`]]],
    [
      'type',
      'a content type of 10,000 spaces',
      [['content-type', `application/json${' ;'.repeat(5_000)}x`]],
    ],
    [
      'scheme',
      'a credential of 10,000 spaces',
      [['x-authorization', `Bearer${' '.repeat(10_000)}x`]],
    ],
    ['id', 'an id of 10,000 characters', [['x-request-id', `${'a'.repeat(10_000)}!`]]],
    [
      'traceparent',
      'a traceparent of 10,000 characters',
      [['traceparent', `00-${'0'.repeat(10_000)}-`]],
    ],
    ['tracestate', 'a tracestate of 2,000 members', [['tracestate', 'a=b,'.repeat(2_000)]]],
    ['connection', 'a connection of 5,000 names', [['connection', 'a ,'.repeat(4_000)]]],
    [
      'language',
      'an accept-language of 3,000 ranges',
      [['accept-language', 'en;q=0.1,'.repeat(1_300)]],
    ],
  ];
}

function rejectPost(
  attackClass: AttackClass,
  name: string,
  title: string,
  request: { readonly body: string | Buffer; readonly headers?: readonly RawHeader[] },
): Attack {
  return {
    ...describe(attackClass, name, title),
    attack: (scene) => expectRejected(scene, craftPost(scene, request), { statuses: [400] }),
  };
}

function forwardPost(row: Row): Attack {
  return {
    ...describe('json', `kept-${row.name}`, row.title),
    attack: (scene) =>
      expectForwarded(scene, craftPost(scene, row), ({ body }) =>
        body.equals(Buffer.from(row.body)) ? null : 'the provider received other bytes',
      ),
  };
}

function rejectHead(name: string, title: string, headers: readonly RawHeader[]): Attack {
  return {
    ...describe('oversize', name, title),
    needs: 'token',
    attack: (scene) =>
      expectRejected(scene, craftRequest(scene, { headers }), { statuses: [431], closes: true }),
  };
}

function craftPost(
  scene: Scene,
  request: { readonly body: string | Buffer; readonly headers?: readonly RawHeader[] },
): Buffer {
  return craftRequest(scene, { method: 'POST', target: `${scene.base}/items`, ...request });
}

/** A body that violates the schema of its route. */
function rejectDescribed(name: string, title: string, body: unknown): Attack {
  return {
    ...describe('json', name, title),
    attack: (scene) => {
      const target = `${scene.base}/described`;
      const request = { method: 'POST', target, body: JSON.stringify(body) };
      return expectRejected(scene, craftRequest(scene, request), { statuses: [400] });
    },
  };
}

function describe(attackClass: AttackClass, name: string, title: string) {
  return { id: `${attackClass}-${name}`, title };
}

/**
 * Announces a body of 1 MiB without credentials and never sends it, which must not occupy the
 * host's memory.
 */
function rejectAnonymous(name: string, title: string, target: string): Attack {
  return {
    ...describe('oversize', `anonymous-${name}`, `a body without credentials for ${title}`),
    attack: (scene) => {
      const head = [
        `POST ${target} HTTP/1.1`,
        `host: ${scene.authority}`,
        'sec-fetch-site: same-origin',
        'content-type: application/json',
        `content-length: ${MIB}`,
      ];
      return expectRejected(scene, Buffer.from(`${head.join('\r\n')}\r\n\r\n`), {
        statuses: [413],
      });
    },
  };
}
