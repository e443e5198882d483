import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { CLOSE_CODES } from '../lib/websocket/frame-scanner.js';
import { acceptKey } from '../lib/websocket/handshake.js';
import { SMUGGLED } from './raw-mode-scripts.js';
import type { UpgradeScript } from './recording-provider.js';

/** A module whose routes are WebSockets, with short limits. */
export const SOCKET_MODULE = 'sockets';
/** A second module, whose client reads nothing: its WebSockets are counted separately. */
export const SLOW_SOCKET_MODULE = 'sockets-slow';

/** The size of a frame of these modules. */
const FRAME_BYTES = 4096;

const SHARED_LIMITS = { timeout_ms: 1000 };
export const SOCKET_LIMITS: Readonly<Record<string, object>> = {
  [SOCKET_MODULE]: {
    ...SHARED_LIMITS,
    stream: { idle_ms: 3000, per_actor: 100, event_bytes: FRAME_BYTES },
  },
  [SLOW_SOCKET_MODULE]: { ...SHARED_LIMITS, stream: { idle_ms: 1000, event_bytes: FRAME_BYTES } },
};

export const SOCKET_ROUTES = [
  { method: 'GET', path: '/{kind...}', capability: 'shop.use', operation: { stream: 'websocket' } },
];

/** A frame that neither end may receive. */
export interface HostileFrame {
  readonly name: string;
  readonly title: string;
  /** The code with which the host closes. */
  readonly code: number;
  /** The head without the mask bit. */
  readonly head: readonly number[];
  readonly payload: string;
  /** Whether the frame has a mask that is not allowed, or lacks a required one. */
  readonly isMisplaced?: boolean;
}

/** The content of floods. 8 bytes. */
export const FLOOD = 'flooding';

const LENGTH = SMUGGLED.length;
const long = SMUGGLED.repeat(2 * FRAME_BYTES).slice(0, 2 * FRAME_BYTES);
const control = long.slice(0, 126);

/** Compressed frames, extensions that were not negotiated, and ambiguous frames. */
export const HOSTILE_FRAMES: readonly HostileFrame[] = [
  bad('masking', 'a mask on the wrong side', [0x81, LENGTH], { isMisplaced: true }),
  bad('opcode', 'a reserved opcode', [0x83, LENGTH]),
  bad('control', 'a reserved opcode of control', [0x8b, LENGTH]),
  bad('compressed', 'a compressed frame that was not negotiated', [0xc1, LENGTH]),
  bad('reserved', 'a reserved bit', [0xa1, LENGTH]),
  bad('length-16', 'a length of 2 bytes that fits into 7 bits', [0x81, 126, 0, LENGTH]),
  bad('length-64', 'a length of 8 bytes that fits into 7 bits', [
    ...[0x81, 127, 0, 0, 0, 0, 0, 0, 0, LENGTH],
  ]),
  bad('length-top', 'a length beyond 63 bits', [0x81, 127, 0x80, 0, 0, 0, 0, 0, 0, LENGTH]),
  bad('ping-part', 'a part of a ping', [0x09, LENGTH]),
  bad('ping-long', 'a ping of 126 bytes', [0x89, 126, 0, 126], { payload: control }),
  bad('close-half', 'a close with half a code', [0x88, 1], { payload: SMUGGLED.slice(0, 1) }),
  bad('continuation', 'a continuation of nothing', [0x80, LENGTH]),
  bad('large', 'a frame above the limit', [0x82, 126, (2 * FRAME_BYTES) >> 8, 0], {
    payload: long,
    code: CLOSE_CODES.tooLarge,
  }),
];

function bad(
  name: string,
  title: string,
  head: readonly number[],
  more: Partial<HostileFrame> = {},
): HostileFrame {
  return { name, title, code: CLOSE_CODES.protocolError, head, payload: SMUGGLED, ...more };
}

const MASKED = 0x80;
/** A mask that leaves the payload readable. */
const MASK = [0, 0, 0, 0];

export function writeFrame(
  { head: [first = 0, second = 0, ...more], payload, isMisplaced = false }: HostileFrame,
  sender: 'client' | 'server',
): Buffer {
  const isMasked = (sender === 'client') !== isMisplaced;
  const head = isMasked ? [first, second | MASKED, ...more, ...MASK] : [first, second, ...more];
  return Buffer.concat([Buffer.from(head), Buffer.from(payload)]);
}

/** Writes as many frames of half the limit as 64 KiB hold. */
export function writeFlood(sender: 'client' | 'server'): Buffer {
  const size = FRAME_BYTES / 2;
  const frame = { head: [0x82, 126, size >> 8, size & 0xff], payload: FLOOD.repeat(size / 8) };
  const bytes = writeFrame({ ...frame, name: '', title: '', code: 0 }, sender);
  return Buffer.concat(Array.from({ length: 32 }, () => bytes));
}

/** Subprotocols that a provider chooses although they were not offered. */
export const CHOICES = { own: 'modgate.v1', bearer: 'modgate.bearer.AAAA' } as const;

export function createUpgradeScripts(): ReadonlyMap<string, UpgradeScript> {
  const frames = HOSTILE_FRAMES.map((frame): [string, UpgradeScript] => [
    `/reply/${frame.name}`,
    (request, connection) => {
      accept(request, connection);
      connection.write(writeFrame(frame, 'server'));
    },
  ]);
  const choices = Object.entries(CHOICES).map(([name, protocol]): [string, UpgradeScript] => [
    `/offers/${name}`,
    (request, connection) => accept(request, connection, [`sec-websocket-protocol: ${protocol}`]),
  ]);
  return new Map([
    ...frames,
    ...choices,
    ['/frames', accept],
    ['/offers', accept],
    ['/open', accept],
    ['/declined', (_, connection) => void connection.end(DECLINED)],
    ['/accept', (_, connection) => void connection.write(`${switching('AAAA')}${ANSWER}`)],
    ['/endless', sendEndlessHead],
    ['/silent', (request, connection) => accept(request, connection.pause(), [], false)],
    ['/flood', (request, connection) => flood(accept(request, connection))],
  ]);
}

const DECLINED = 'HTTP/1.1 403 Forbidden\r\ncontent-length: 0\r\n\r\n';
const ANSWER = `HTTP/1.1 200 OK\r\ncontent-length: ${LENGTH}\r\n\r\n${SMUGGLED}`;
const HEAD_LINE_MS = 100;

function switching(key: string, lines: readonly string[] = []): string {
  const head = ['upgrade: websocket', 'connection: Upgrade', `sec-websocket-accept: ${key}`];
  return ['HTTP/1.1 101 Switching Protocols', ...head, ...lines, '\r\n'].join('\r\n');
}

/** Ends the connection with the first bytes, a close frame or unexpected data. */
function accept(
  request: IncomingMessage,
  connection: Duplex,
  lines: readonly string[] = [],
  ends = true,
): Duplex {
  connection.write(switching(acceptKey(request.headers['sec-websocket-key'] ?? ''), lines));
  if (ends) connection.once('data', () => connection.end());
  return connection;
}

function sendEndlessHead(_request: IncomingMessage, connection: Duplex): void {
  connection.write('HTTP/1.1 101 Switching Protocols\r\n');
  const timer = setInterval(() => connection.write('x-a: b\r\n'), HEAD_LINE_MS);
  connection.once('close', () => clearInterval(timer));
}

/** Writes at the speed of the reader, until it stops. */
function flood(connection: Duplex): void {
  const bytes = writeFlood('server');
  const write = () => {
    while (connection.writable && connection.write(bytes));
    if (connection.writable) connection.once('drain', write);
  };
  write();
}
