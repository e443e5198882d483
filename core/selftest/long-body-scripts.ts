import type { ServerResponse } from 'node:http';
import { SMUGGLED } from './raw-mode-scripts.js';
import type { HeadScript, Script } from './recording-provider.js';

/** A module that streams bodies above its buffer size, with short limits. */
export const LONG_MODULE = 'long';

/** The buffer size of the module. Bytes. */
const HELD_BYTES = 4096;
/** The maximum JSON body of the module. Bytes. */
export const LONGEST_BYTES = 262_144;

export const LONG_LIMITS = {
  response_bytes: LONGEST_BYTES,
  hold_bytes: HELD_BYTES,
  request_bytes: LONGEST_BYTES,
  hold_request_bytes: HELD_BYTES,
  body_idle_ms: 1000,
  concurrency: 64,
};

export const LONG_ROUTES = [
  { method: 'GET', path: '/long/{kind}' },
  { method: 'POST', path: '/long/{kind}' },
  {
    method: 'GET',
    path: '/bytes/{kind}',
    operation: { response: 'bytes', response_max_bytes: LONGEST_BYTES },
  },
  { method: 'GET', path: '/flood/{kind}', operation: { response: 'bytes' } },
  { method: 'PUT', path: '/flood/{kind}', operation: { body: 'bytes' } },
].map((route) => ({ ...route, capability: 'shop.use' }));

/** The start of a JSON array that exceeds the buffer of the module. */
export const OVERSIZED_START = `["${'x'.repeat(2 * HELD_BYTES)}"`;
/** By then the host has forwarded the start. Milliseconds. */
const TURN_DELAY_MS = 50;
const TRICKLE_MS = 400;

/** A response that becomes invalid after its head was forwarded. */
interface TurningResponse {
  readonly path: string;
  readonly name: string;
  readonly title: string;
  /** The rest of the response on the wire, latin-1; the connection is closed after it. */
  readonly rest: string;
}

const LAST = '0\r\n\r\n';
const turning = (name: string, title: string, rest: string): TurningResponse => ({
  ...{ name, title, rest },
  path: `/long/${name}`,
});
const turningBytes = (name: string, title: string, rest: string): TurningResponse => ({
  ...{ name: `bytes-${name}`, title, rest },
  path: `/bytes/${name}`,
});

/** No client may consider one of them complete. */
export const TURNING_RESPONSES: readonly TurningResponse[] = [
  turning('late', 'a long response with text after its value', chunk(']x') + LAST),
  turning('open', 'a long response that is not closed', chunk(',1') + LAST),
  turning('two', 'a long response with two values', chunk(`]["${SMUGGLED}"]`) + LAST),
  turning('utf8', 'a long response that stops being UTF-8', chunk(',"\xff"]') + LAST),
  turning('cut', 'a long response without its last chunk', chunk(']')),
  turning('size', 'a long response with a chunk size that is not a number', `${chunk(']')}zz\r\n`),
  turning(
    'over',
    'a long response beyond the limit',
    chunk(' '.repeat(LONGEST_BYTES)) + chunk(']') + LAST,
  ),
  turning(
    'trailers',
    'a long response whose trailers never end',
    `${chunk(']')}0\r\n${endlessLines()}`,
  ),
  turningBytes('cut', 'a file without its last chunk', chunk('end')),
  turningBytes('over', 'a file beyond the limit', chunk(' '.repeat(LONGEST_BYTES)) + LAST),
];

function chunk(text: string): string {
  return `${text.length.toString(16)}\r\n${text}\r\n`;
}

/** More than the head of a request may have. */
function endlessLines(): string {
  return 'x-endless: a\r\n'.repeat(20_000);
}

export function createLongScripts(): ReadonlyMap<string, Script> {
  const scripts = TURNING_RESPONSES.map(({ path, rest }): [string, Script] => [
    path,
    (_, response) => {
      const type = path.startsWith('/long/') ? 'application/json' : 'image/png';
      response.writeHead(200, { 'content-type': type }).write(OVERSIZED_START);
      setTimeout(() => response.socket?.end(rest, 'latin1'), TURN_DELAY_MS);
    },
  ]);
  return new Map([
    ...scripts,
    [
      '/long/good',
      (_, response) => {
        response.writeHead(200, {
          'content-type': 'application/json',
          trailer: 'set-cookie',
        });
        response.write(OVERSIZED_START);
        response.addTrailers({ 'set-cookie': SMUGGLED });
        response.end(']');
      },
    ],
    [
      '/long/head',
      (_, response) =>
        void response.socket?.write(`HTTP/1.1 200 OK\r\n${endlessLines()}`, 'latin1'),
    ],
    [
      '/long/trickle',
      (_, response) => {
        response.writeHead(200, { 'content-type': 'application/json' }).write(OVERSIZED_START);
        const timer = setInterval(() => response.write(' '), TRICKLE_MS);
        response.once('close', () => clearInterval(timer));
      },
    ],
    ['/flood/file', (_, response) => flood(response)],
  ]);
}

/** Writes at the speed of the reader, until it stops. */
function flood(response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'image/png' });
  const part = Buffer.alloc(65_536, 1);
  const write = () => {
    while (!response.destroyed && response.write(part));
    if (!response.destroyed) response.once('drain', write);
  };
  write();
}

export const LONG_HEAD_SCRIPTS: ReadonlyMap<string, HeadScript> = new Map([
  // Responds before the body has arrived.
  [
    '/long/early',
    (request, response) => {
      request.on('error', () => {});
      response.writeHead(413, { 'content-type': 'application/json' }).end('{"too":"long"}');
    },
  ],
  // Reads nothing of the body.
  ['/flood/unread', (request) => void request.on('error', () => {}).pause()],
]);
