import type { IncomingMessage } from 'node:http';
import { connect, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { type RawData, type WebSocket, WebSocketServer } from 'ws';
import { acceptKey } from '../../../core/lib/websocket/handshake.js';
import { ROOT } from './call.js';
import { describeModule } from './modules.js';
import { type ScriptedHost, useScriptedProvider } from './use-scripted-provider.js';

const CAPABILITY = 'chat.use';
const SOCKET = { method: 'GET', path: '/socket', capability: CAPABILITY };
export const ROUTES = [
  { ...SOCKET, operation: { stream: 'websocket' } },
  { ...SOCKET, path: '/both', operation: { stream: 'websocket', operation_id: 'openBoth' } },
  { ...SOCKET, path: '/both', operation: { operation_id: 'readBoth' } },
  { ...SOCKET, path: '/items' },
];

/** Shorter than the defaults, so that no test waits for them. */
const QUICK = { idle_ms: 300, max_ms: 100_000, per_actor: 2, total: 3, event_bytes: 1024 };

/** Handles the connection of a handshake at the provider. */
export type Upgrade = (request: IncomingMessage, connection: Duplex, head: Buffer) => void;

export interface WebSocketHost extends ScriptedHost {
  /** The handlers of the next handshakes. */
  upgrade(listener: Upgrade): void;
  /** The URL of a route. */
  url(module: string, path?: string): string;
}

/** A host with WebSockets: `chat` in the envelope's mode, `raw`, `quick` with short limits, `short` that ends soon. */
export function useWebSockets(args: readonly string[] = []): WebSocketHost {
  let upgrade: Upgrade = (_request, connection) => connection.destroy();
  const setup = useScriptedProvider((url) => {
    const describe = (name: string, overrides: object) =>
      describeModule(name, url, ROUTES, overrides);
    return {
      'chat.json': describe('chat', {}),
      'raw.json': describe('raw', { responses: { mode: 'raw' } }),
      'quick.json': describe('quick', { limits: { stream: QUICK } }),
      'short.json': describe('short', { limits: { stream: { max_ms: 1000 } } }),
    };
  }, args);
  before(() => {
    setup.provider.onUpgrade((request, connection, head) => {
      connection.on('error', () => {});
      connection.on('end', () => connection.end());
      upgrade(request, connection, head);
    });
  });
  const url = (module: string, path = '/socket') =>
    `${setup.host.url.replace('http', 'ws')}/modules/${module}/http${path}`;
  return Object.assign(Object.create(setup) as ScriptedHost, {
    upgrade: (next: Upgrade) => {
      upgrade = next;
    },
    url,
  });
}

export const AUTHORIZATION = { authorization: `Bearer ${ROOT}` };
export const KEY = 'dGhlIHNhbXBsZSBub25jZQ==';

/** The head of a 101 that answers a handshake. */
export function writeAccepted(request: IncomingMessage, lines: readonly string[] = []): string {
  const key = request.headers['sec-websocket-key'] ?? '';
  return [
    'HTTP/1.1 101 Switching Protocols',
    'upgrade: websocket',
    'connection: Upgrade',
    `sec-websocket-accept: ${acceptKey(key)}`,
    ...lines,
    '\r\n',
  ].join('\r\n');
}

const server = new WebSocketServer({ noServer: true, maxPayload: 1 << 30 });

/** Accepts a handshake, and calls back for each message. */
export function acceptMessages(
  ...[request, connection, head, take]: [
    ...Parameters<Upgrade>,
    (peer: WebSocket, data: RawData, isBinary: boolean) => void,
  ]
): void {
  server.handleUpgrade(request, connection, head, (peer) => {
    peer.on('error', () => {});
    peer.on('message', (data, isBinary) => take(peer, data, isBinary));
  });
}

/** Accepts each handshake, and sends back each message. */
export const echoMessages: Upgrade = (request, connection, head) => {
  acceptMessages(request, connection, head, (peer, data, isBinary) => {
    peer.send(data, { binary: isBinary });
  });
};

/** Accepts each handshake, and sends back the bytes that it gets: a frame of a server has no mask. */
export const echo: Upgrade = (request, connection, head) => {
  connection.write(writeAccepted(request));
  connection.write(head);
  connection.pipe(connection);
};

export interface RawSocket {
  readonly socket: Socket;
  write(bytes: Uint8Array | string): void;
  /** Everything so far. */
  readonly received: Buffer;
  /** Resolves when what came holds this. @returns the bytes behind it */
  until(text: string | Buffer): Promise<Buffer>;
  /** Resolves with everything when the other end has closed. */
  ended(): Promise<Buffer>;
}

/** A connection whose bytes a test writes itself. */
export async function openRaw(port: number): Promise<RawSocket> {
  const socket = connect(port, '127.0.0.1');
  let received = Buffer.alloc(0);
  let isEnded = false;
  let wake = () => {};
  socket.on('error', () => {});
  socket.on('data', (chunk) => {
    received = Buffer.concat([received, chunk]);
    wake();
  });
  for (const event of ['end', 'close']) {
    socket.on(event, () => {
      isEnded = true;
      wake();
    });
  }
  await new Promise((resolve) => socket.once('connect', resolve));
  const next = () =>
    new Promise<void>((resolve) => {
      wake = resolve;
    });
  return {
    socket,
    write: (bytes) => void socket.write(bytes),
    get received() {
      return received;
    },
    async until(text) {
      const expected = Buffer.from(text as string, 'latin1');
      while (!received.includes(expected)) {
        if (isEnded)
          throw new Error(`the connection ended without it: ${received.toString('latin1')}`);
        await next();
      }
      return received.subarray(received.indexOf(expected) + expected.length);
    },
    async ended() {
      while (!isEnded) await next();
      return received;
    },
  };
}

/** A handshake as text. `lines` replace or add headers by name; `null` leaves one out. */
export function writeHandshake(
  path: string,
  changes: Readonly<Record<string, string | null>> = {},
  method = 'GET',
): string {
  const lines: Record<string, string | null> = {
    host: 'localhost',
    ...AUTHORIZATION,
    connection: 'Upgrade',
    upgrade: 'websocket',
    'sec-websocket-version': '13',
    'sec-websocket-key': KEY,
    ...changes,
  };
  const head = Object.entries(lines).flatMap(([name, value]) =>
    value === null ? [] : [`${name}: ${value}`],
  );
  return [`${method} ${path} HTTP/1.1`, ...head, '\r\n'].join('\r\n');
}

/** One frame; of a client it is masked. */
export function createFrame(
  opcode: number,
  payload: Uint8Array | readonly number[] | string,
  { mask = null as Buffer | null, fin = true, rsv = 0 } = {},
): Buffer {
  const bytes = Buffer.from(payload as string);
  const { length } = bytes;
  const sizes =
    length < 126
      ? [length]
      : length < 65_536
        ? [126, length >> 8, length & 0xff]
        : [127, 0, 0, 0, 0, ...Buffer.from(Uint32Array.of(length).buffer).reverse()];
  sizes[0] = (sizes[0] ?? 0) | (mask === null ? 0 : 0x80);
  const head = Buffer.from([(fin ? 0x80 : 0) | (rsv << 4) | opcode, ...sizes, ...(mask ?? [])]);
  const masked = mask === null ? bytes : bytes.map((byte, at) => byte ^ (mask[at % 4] ?? 0));
  return Buffer.concat([head, masked]);
}
