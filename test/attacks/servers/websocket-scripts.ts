import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { CLOSE_CODES } from '../../../core/lib/websocket/frame-scanner.js';
import { writeAccepted } from '../../support/http/use-websockets.js';
import type { OwnModules } from '../scene.js';
import { flood, pathOf, SMUGGLED } from './scripted-server.js';

/** The size of a frame of the modules. */
const FRAME_BYTES = 4096;

const describeSockets = (idle_ms: number) => ({
  limits: {
    timeout_ms: 4000,
    stream: { idle_ms, per_actor: 100, event_bytes: FRAME_BYTES },
  },
  routes: [
    {
      ...{ method: 'GET', path: '/{kind...}', capability: 'shop.use' },
      operation: { stream: 'websocket' },
    },
  ],
});

/** WebSockets with short limits. A client that reads nothing has its own, which are counted separately. */
export const createSocketModules = (url: string): OwnModules => ({
  sockets: { url, ...describeSockets(3000) },
  'sockets-slow': { url, ...describeSockets(1000) },
});

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

/** Compressed frames, extensions that were not negotiated, and ambiguous frames. */
export const HOSTILE_FRAMES: readonly HostileFrame[] = [
  bad('masking', 'a mask on the wrong side', [0x81, LENGTH], { isMisplaced: true }),
  bad('opcode', 'a reserved opcode', [0x83, LENGTH]),
  bad('control', 'a reserved opcode of control', [0x8b, LENGTH]),
  bad('compressed', 'a compressed frame that was not negotiated', [0xc1, LENGTH]),
  bad('reserved', 'a reserved bit', [0xa1, LENGTH]),
  bad('length-16', 'a length of 2 bytes that fits into 7 bits', [0x81, 126, 0, LENGTH]),
  bad('length-64', 'one of 8 bytes that does', [0x81, 127, 0, 0, 0, 0, 0, 0, 0, LENGTH]),
  bad('length-top', 'a length beyond 63 bits', [0x81, 127, 0x80, 0, 0, 0, 0, 0, 0, LENGTH]),
  bad('ping-part', 'a part of a ping', [0x09, LENGTH]),
  bad('ping-long', 'a ping of 126 bytes', [0x89, 126, 0, 126], { payload: long.slice(0, 126) }),
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

export function writeFrame(
  { head, payload, isMisplaced = false }: Pick<HostileFrame, 'head' | 'payload' | 'isMisplaced'>,
  sender: 'client' | 'server',
): Buffer {
  const [first = 0, second = 0, ...more] = head;
  const isMasked = (sender === 'client') !== isMisplaced;
  // A mask of zeros leaves the payload readable.
  const bytes = isMasked ? [first, second | 0x80, ...more, 0, 0, 0, 0] : head;
  return Buffer.concat([Buffer.from(bytes), Buffer.from(payload)]);
}

/** Writes as many frames of half the limit as 64 KiB hold. */
export function writeFlood(sender: 'client' | 'server'): Buffer {
  const size = FRAME_BYTES / 2;
  const head = [0x82, 126, size >> 8, size & 0xff];
  const frame = writeFrame({ head, payload: FLOOD.repeat(size / FLOOD.length) }, sender);
  return Buffer.concat(Array.from({ length: 32 }, () => frame));
}

/** Subprotocols that a provider chooses although they were not offered. */
export const CHOICES = { own: 'modgate.v1', bearer: 'modgate.bearer.AAAA' } as const;

type Upgrade = (connection: Duplex, request: IncomingMessage) => void;

/** Ends the connection with the first bytes, a close frame or unexpected data. */
const accept: Upgrade = (connection, request) => {
  connection.write(writeAccepted(request));
  connection.once('data', () => connection.end());
};

const INVALID_ACCEPT = writeAccepted({ headers: {} } as IncomingMessage);
const ANSWER = `HTTP/1.1 200 OK\r\ncontent-length: ${LENGTH}\r\n\r\n${SMUGGLED}`;

const SCRIPTS: Readonly<Record<string, Upgrade>> = {
  ...Object.fromEntries(
    HOSTILE_FRAMES.map((frame): [string, Upgrade] => [
      `/reply/${frame.name}`,
      (connection, request) => {
        accept(connection, request);
        connection.write(writeFrame(frame, 'server'));
      },
    ]),
  ),
  ...Object.fromEntries(
    Object.entries(CHOICES).map(([name, protocol]): [string, Upgrade] => [
      `/offers/${name}`,
      (connection, request) => {
        connection.write(writeAccepted(request, [`sec-websocket-protocol: ${protocol}`]));
        connection.once('data', () => connection.end());
      },
    ]),
  ),
  '/frames': accept,
  '/offers': accept,
  '/open': accept,
  '/declined': (connection) =>
    connection.end('HTTP/1.1 403 Forbidden\r\ncontent-length: 0\r\n\r\n'),
  '/accept': (connection) => connection.write(INVALID_ACCEPT + ANSWER),
  '/endless': (connection) => {
    connection.write('HTTP/1.1 101 Switching Protocols\r\n');
    const timer = setInterval(() => connection.write('x-a: b\r\n'), 100);
    connection.once('close', () => clearInterval(timer));
  },
  '/silent': (connection, request) => connection.pause().write(writeAccepted(request)),
  '/flood': (connection, request) => {
    accept(connection, request);
    flood(connection, writeFlood('server'));
  },
};

export function answerUpgrade(request: IncomingMessage, connection: Duplex): void {
  SCRIPTS[pathOf(request)]?.(connection, request);
}
