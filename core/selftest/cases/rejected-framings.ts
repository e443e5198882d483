/** A request whose end is ambiguous: two parsers may see it at different bytes. */
export interface RejectedFraming {
  readonly name: string;
  readonly title: string;
  /** Default `POST`. */
  readonly method?: string;
  /** Default `HTTP/1.1`. */
  readonly version?: string;
  /** The lines after the content type, which a GET omits. */
  readonly lines: readonly string[];
  /** The bytes after the head. */
  readonly rest: string;
}

const SIZED = 'Content-Length: 2';
const CHUNKED = 'Transfer-Encoding: chunked';
const CHUNKS = '2\r\n{}\r\n0\r\n\r\n';
const NO_CHUNKS = '0\r\n\r\n';
/** A valid head and body, for requests that are invalid elsewhere. */
const VALID = { lines: [SIZED], rest: '{}' };
const LLHTTP = 'llhttp CVE-2021-22959';

type Variant = readonly [name: string, title: string, varied: string];
type HeadVariant = readonly [name: string, title: string, ...lines: string[]];

const LENGTHS_AND_CHUNKS: readonly HeadVariant[] = [
  ['cl-te', 'a length and chunks', 'Content-Length: 5', CHUNKED],
  ['te-cl', 'chunks and a length', CHUNKED, 'Content-Length: 5'],
];

const LENGTHS: readonly HeadVariant[] = [
  ['cl-cl', 'two lengths that differ', 'Content-Length: 2', 'Content-Length: 3'],
  ['cl-cl-same', 'two lengths that agree', 'Content-Length: 2', 'Content-Length: 2'],
  ['cl-list', 'a list of lengths', 'Content-Length: 2, 2'],
  ['cl-plus', 'a length with a sign', 'Content-Length: +2'],
  ['cl-minus', 'a negative length', 'Content-Length: -2'],
  ['cl-hex', 'a length in hex', 'Content-Length: 0x2'],
  ['cl-empty', 'an empty length', 'Content-Length:'],
  ['cl-words', 'a length of two words', 'Content-Length: 2 2'],
  ['cl-huge', 'a length beyond 64 bits', 'Content-Length: 18446744073709551618'],
  ['cl-exponent', 'a length with an exponent', 'Content-Length: 2e0'],
  ['cl-decimal', 'a length with a decimal point', 'Content-Length: 2.0'],
  ['cl-quoted', 'a quoted length', 'Content-Length: "2"'],
  ['cl-parameter', 'a length with a parameter', 'Content-Length: 2;'],
  ['cl-tab', 'a length after a vertical tab', 'Content-Length: \v2'],
  ['cl-list-differ', 'a list of lengths that differ', 'Content-Length: 2,3'],
  ['te-identity', 'the coding identity', 'Transfer-Encoding: identity'],
];

const CODINGS: readonly HeadVariant[] = [
  ['te-unknown', 'an unknown coding', 'Transfer-Encoding: xchunked'],
  [
    'te-chunked-identity',
    'chunks that are not the last coding',
    'Transfer-Encoding: chunked, identity',
  ],
  ['te-twice', 'chunks and another coding in two headers', CHUNKED, 'Transfer-Encoding: identity'],
  ['te-gzip', 'a compressing coding', 'Transfer-Encoding: gzip, chunked'],
  ['te-tab', 'a coding after a vertical tab', 'Transfer-Encoding: \vchunked'],
  ['te-quoted', 'a quoted coding', 'Transfer-Encoding: "chunked"'],
  ['te-same', 'chunks in two headers', CHUNKED, CHUNKED],
  ['te-repeated', 'chunks within chunks', 'Transfer-Encoding: chunked, chunked'],
  ['te-parameter', 'chunks with a parameter', 'Transfer-Encoding: chunked;q=1'],
  ['te-empty', 'an empty coding', 'Transfer-Encoding:'],
  ['te-comma', 'a comma before the coding', 'Transfer-Encoding: ,chunked'],
  ['te-nul', 'a NUL after the coding', 'Transfer-Encoding: chunked\0'],
  ['te-space-name', 'a space before the colon', 'Transfer-Encoding : chunked'],
  ['te-tab-name', 'a tab before the colon', 'Transfer-Encoding\t: chunked'],
];

const HEADERS: readonly HeadVariant[] = [
  ['bare-lf', 'a header ended by a bare LF', 'X-A: b\nContent-Length: 2'],
  ['bare-cr', 'a bare CR within a header', 'X-A: b\rContent-Length: 2'],
  ['nul-header', 'a NUL within a header', 'X-A: b\0c', SIZED],
  ['space-in-name', 'a space within a name', 'X A: b', SIZED],
  ['no-name', 'a header without a name', ': b', SIZED],
  ['no-colon', 'a header without a colon', 'X-A', SIZED],
  ['control-header', 'a control character within a header', 'X-A: \x01', SIZED],
  ['delete-header', 'a DEL within a header', 'X-A: \x7f', SIZED],
  ['control-name', 'a control character within a name', 'X\x07: b', SIZED],
  ['quoted-name', 'a quoted name', '"X": b', SIZED],
  ['name-parentheses', 'parentheses within a name', 'X(a): b', SIZED],
  ['high-name', 'a name beyond ASCII', 'X-\xc3\xa9: b', SIZED],
];

const CHUNKINGS: readonly Variant[] = [
  ['chunk-size-hex', 'a chunk size with 0x', '0x2\r\n{}\r\n0\r\n\r\n'],
  ['chunk-size-negative', 'a negative chunk size', '-2\r\n{}\r\n0\r\n\r\n'],
  ['chunk-size-huge', 'a chunk size beyond 64 bits', '10000000000000002\r\n{}\r\n0\r\n\r\n'],
  ['chunk-size-space', 'a chunk size after a space', ' 2\r\n{}\r\n0\r\n\r\n'],
  ['chunk-size-underscore', 'a chunk size with an underscore', '0_2\r\n{}\r\n0\r\n\r\n'],
  ['chunk-size-plus', 'a chunk size with a sign', '+2\r\n{}\r\n0\r\n\r\n'],
  ['chunk-size-empty', 'an empty chunk size', '\r\n{}\r\n0\r\n\r\n'],
  ['chunk-size-after', 'a space after a chunk size', '2 \r\n{}\r\n0\r\n\r\n'],
  ['chunk-size-list', 'a list of chunk sizes', '2,2\r\n{}\r\n0\r\n\r\n'],
  ['chunk-cr', 'a chunk size ended by a bare CR', '2\r{}\r\n0\r\n\r\n'],
  ['chunk-last-lf', 'a last chunk ended by bare LFs', '2\r\n{}\r\n0\n\n'],
  ['chunk-extension', 'a chunk extension of 20 kB', `2;a=${'b'.repeat(20_000)}\r\n{}\r\n0\r\n\r\n`],
  ['chunk-extension-quoted', 'a line break in a quoted extension', '2;a="\r\n"\r\n{}\r\n0\r\n\r\n'],
  ['trailer-length', 'a length as a trailer', '2\r\n{}\r\n0\r\nContent-Length: 5\r\n\r\n'],
  ['trailer-coding', 'a coding as a trailer', '2\r\n{}\r\n0\r\nTransfer-Encoding: x\r\n\r\n'],
  ['trailer-long', 'trailers of 60 kB', `2\r\n{}\r\n0\r\n${'x: y\r\n'.repeat(10_000)}\r\n`],
  ['chunk-lf', 'a chunk size ended by a bare LF', '2\n{}\r\n0\r\n\r\n'],
  ['chunk-extension-lf', 'a chunk extension with a bare LF', '2;a\nb\r\n{}\r\n0\r\n\r\n'],
  ['chunk-no-end', 'a chunk that runs into the next', '2\r\n{}0\r\n\r\n'],
  ['chunk-long', 'a chunk longer than its size', '1\r\n{}\r\n0\r\n\r\n'],
];

const VERSIONS: readonly Variant[] = [
  ['version-0.9', 'HTTP/0.9', 'HTTP/0.9'],
  ['version-1.2', 'HTTP/1.2', 'HTTP/1.2'],
  ['version-2', 'HTTP/2.0 in the form of HTTP/1', 'HTTP/2.0'],
  ['version-3', 'HTTP/3.0 in the form of HTTP/1', 'HTTP/3.0'],
  ['version-long', 'a version with two digits', 'HTTP/1.01'],
  ['version-space', 'a space after the version', 'HTTP/1.1 '],
  ['protocol-icy', 'another protocol', 'ICY/1.0'],
  ['protocol-ice', 'the protocol of Icecast', 'ICE/1.0'],
  ['protocol-rtsp', 'RTSP/2.0', 'RTSP/2.0'],
  ['version-case', 'the protocol in lower case', 'http/1.1'],
  ['version-extra', 'text after the version', 'HTTP/1.1 x'],
];

const METHODS: readonly Variant[] = [
  ['method-case', 'a method in lower case', 'post'],
  ['method-unknown', 'an unknown method', 'SMUGGLE'],
];

const CONNECTION_LISTED: readonly HeadVariant[] = [
  ['connection-length', 'a length named by connection', 'Connection: content-length', SIZED],
];

const GETS: readonly HeadVariant[] = [
  ['get-te-unknown', 'a GET with an unknown coding', 'Transfer-Encoding: xchunked'],
  ['get-cl-te', 'a GET with a length and chunks', 'Content-Length: 5', CHUNKED],
];

export const EVIDENCE: Readonly<Record<string, string>> = {
  'cl-te': LLHTTP,
  'te-cl': LLHTTP,
  'cl-cl': 'undici CVE-2026-1525',
  'te-space-name': LLHTTP,
  'chunk-lf': LLHTTP,
  'chunk-extension-lf': LLHTTP,
  'connection-length': 'Traefik CVE-2024-45410',
};

/** Each must be rejected and its connection closed, without a response to the hidden request. */
export const REJECTED_FRAMINGS: readonly RejectedFraming[] = [
  ...LENGTHS_AND_CHUNKS.map(withRest(NO_CHUNKS)),
  ...LENGTHS.map(withRest('{}')),
  ...CODINGS.map(withRest(CHUNKS)),
  { ...withRest(CHUNKS)(['te-1.0', 'chunks in HTTP/1.0', CHUNKED]), version: 'HTTP/1.0' },
  withRest('')(['obs-fold', 'a folded header', 'X-A: b', ' Transfer-Encoding: chunked']),
  withRest(CHUNKS)(['obs-fold-te', 'a folded coding', 'Transfer-Encoding:', ' chunked']),
  ...HEADERS.map(withRest('{}')),
  ...CHUNKINGS.map(([name, title, rest]) => ({ name, title, lines: [CHUNKED], rest })),
  ...VERSIONS.map(([name, title, version]) => ({ name, title, version, ...VALID })),
  ...METHODS.map(([name, title, method]) => ({ name, title, method, ...VALID })),
  ...CONNECTION_LISTED.map(withRest('{}')),
  ...GETS.map((get) => ({ ...withRest(NO_CHUNKS)(get), method: 'GET' })),
];

function withRest(rest: string): (head: HeadVariant) => RejectedFraming {
  return ([name, title, ...lines]) => ({ name, title, lines, rest });
}
