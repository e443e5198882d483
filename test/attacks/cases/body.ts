import type { RawHeader } from '../../../core/selftest/raw-http.js';
import { craftLines, joinLines } from '../../../core/selftest/request-bytes.js';
import { type Attack, type CraftedRequest, reject } from '../attack.js';
import type { Scene } from '../scene.js';

const MIB = 1024 * 1024;
const DEPTH = 100_000;
const JSON_TYPE: RawHeader = ['content-type', 'application/json'];

type Row = readonly [name: string, title: string, body: string | Buffer];

const REJECTED_JSON: readonly Row[] = [
  ['empty', 'an empty body', ''],
  ['space', 'only white space', '  '],
  ['bom', 'two byte-order marks', '\ufeff\ufeff{}'],
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
  ['twice', [JSON_TYPE, ['content-type', 'text/plain']]],
];

export const BODY_CASES: readonly Attack[] = [
  ...REJECTED_JSON.map(([name, title, body]) => rejectPost(`json-${name}`, title, { body })),
  ...UNCHANGED_JSON.map(
    ([name, title, sent]): Attack => ({
      id: `json-kept-${name}`,
      title,
      send: { method: 'POST', path: '/items', body: sent },
      forwarded: ({ body }) =>
        body.equals(Buffer.from(sent)) ? null : 'the provider received other bytes',
    }),
  ),
  ...REJECTED_ENCODINGS.map(([name, value]) => {
    const headers = [JSON_TYPE, ['content-encoding', value]] as const;
    const title = `a body with a content-encoding: ${name}`;
    return rejectPost(`decompression-request-${name}`, title, { headers });
  }),
  ...REJECTED_TYPES.map(([name, headers]) =>
    rejectPost(`admin-form-${name}`, `a body with the content type of a form: ${name}`, {
      headers,
    }),
  ),
  rejectPost('oversize-body', 'a body of 1 MiB and one byte', {
    body: `"${'a'.repeat(MIB - 1)}"`,
  }),
  reject(
    'oversize-body-declared',
    'a body that declares 10 GB',
    (scene) => craftItems(scene, ['Content-Length: 10000000000']),
    400,
  ),
  rejectPost('json-schema', 'a member that a shared schema rejects', {
    path: '/described',
    body: '[{"name":"a","next":{"name":1}}]',
  }),
  rejectPost('json-schema-costly', 'a body whose shared schemas multiply at each step', {
    path: '/described',
    body: '[{"deep":true}]',
  }),
  rejectAnonymous('docs', 'a page that accepts no body', '/docs'),
  rejectAnonymous('sign-in', 'the sign-in of the console', '/console/api/session'),
  rejectAnonymous('console', 'a module behind the console', '/console/api/modules/shop/http/items'),
  reject(
    'oversize-body-chunks',
    'a body of 2 MiB in chunks',
    (scene) => {
      const chunks = `10000\r\n${'1'.repeat(0x10000)}\r\n`.repeat(32);
      return craftItems(scene, ['Transfer-Encoding: chunked'], `${chunks}0\r\n\r\n`);
    },
    400,
  ),
  rejectPost('oversize-delete-body', 'a DELETE with a body', {
    method: 'DELETE',
    path: '/items/1',
  }),
];

function rejectPost(id: string, title: string, request: CraftedRequest): Attack {
  return reject(id, title, { method: 'POST', path: '/items', body: '{}', ...request }, 400);
}

function craftItems(scene: Scene, lines: readonly string[], rest = ''): Buffer {
  const all = ['Content-Type: application/json', ...lines];
  return craftLines(scene, `POST ${scene.base}/items HTTP/1.1`, all, rest);
}

/** Announces a body that it never sends, which must not occupy the host's memory. */
function rejectAnonymous(name: string, title: string, target: string): Attack {
  const lines = ['content-type: application/json', `content-length: ${MIB}`];
  const send = ({ authority }: Scene) =>
    joinLines([
      ...[`POST ${target} HTTP/1.1`, `host: ${authority}`, 'sec-fetch-site: same-origin'],
      ...lines,
    ]);
  // A surface may decide before it knows that the body is too large.
  const rejected = [401, 405, 413];
  return reject(
    `oversize-anonymous-${name}`,
    `a body without credentials for ${title}`,
    send,
    rejected,
  );
}
