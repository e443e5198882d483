import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, ListenOptions, Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Duplex } from 'node:stream';
import { acceptKey } from '../../lib/websocket/handshake.js';
import type { ReferenceModule } from './reference-module.js';
import {
  REFERENCE_FAULTS,
  type ReferenceAnswer,
  type ReferenceFault,
  type ReferenceRequest,
} from './reference-protocol.js';
import type { RunningReference } from './running-reference.js';

/** The only secret of {@link startHttpReference} and {@link startUnixReference}. */
export const REFERENCE_SECRET = {
  reference: 'env:REFERENCE_TOKEN',
  value: 'reference-token-9f2c71d4',
} as const;

const MANIFEST_PATH = '/.well-known/modgate/manifest.json';

/** A reference module behind an HTTP server. */
export type HttpReference = Omit<
  Required<RunningReference>,
  | 'config'
  | 'credentials'
  | 'paths'
  | 'signer'
  | 'callerTokens'
  | 'files'
  | 'operation'
  | 'carried'
  | 'invalid'
  | 'progress'
  | 'holdStart'
> & {
  /** The address of the server. */
  readonly address: AddressInfo | string;
};

/** Serves the reference module over HTTP on a free port of loopback, for kind `http`. */
export async function startHttpReference(reference: ReferenceModule): Promise<RunningReference> {
  const { address, ...running } = await serveHttpReference(reference, {
    host: '127.0.0.1',
    port: 0,
  });
  const { port } = address as AddressInfo;
  const auth = { bearer: REFERENCE_SECRET.reference };
  return { ...running, config: { endpoints: [`http://127.0.0.1:${port}`], auth } };
}

/** Serves the reference module over HTTP on a Unix socket in a temporary folder, for kind `unix`. */
export async function startUnixReference(reference: ReferenceModule): Promise<RunningReference> {
  const folder = await mkdtemp(join(tmpdir(), 'modgate-reference-'));
  const path = join(folder, 'provider.sock');
  const { address, stop, ...running } = await serveHttpReference(reference, { path });
  return {
    ...running,
    config: { socket: address, auth: { bearer: REFERENCE_SECRET.reference } },
    stop: async () => {
      await stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Serves the reference module over HTTP, for transports that end at an HTTP server. */
export async function serveHttpReference(
  reference: ReferenceModule,
  listenOptions: ListenOptions,
): Promise<HttpReference> {
  const sockets = new Set<Socket>();
  let bodies: Promise<void> = Promise.resolve();
  const server = createServer(async (request, response) => {
    await bodies;
    await serve(reference, request, response);
  });
  server.on('upgrade', upgrade);
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.on('close', () => sockets.delete(socket));
  });
  await listen(server, listenOptions);
  const address = server.address() as AddressInfo | string;
  const sameAddress = typeof address === 'string' ? { path: address } : { port: address.port };
  const down = async () => {
    if (!server.listening) return;
    const closed = once(server, 'close');
    server.close();
    for (const socket of sockets) socket.destroy();
    await closed;
  };
  return {
    address,
    secrets: { [REFERENCE_SECRET.reference]: REFERENCE_SECRET.value },
    faults: REFERENCE_FAULTS,
    connections: () => sockets.size,
    holdBodies: () => {
      let release = () => {};
      bodies = new Promise((resolve) => {
        release = resolve;
      });
      return release;
    },
    down,
    up: () => listen(server, { ...listenOptions, ...sameAddress }),
    stop: down,
  };
}

/** The path of the reference that opens WebSockets. */
export const UPGRADE_PATH = '/upgrade';

/**
 * Opens a WebSocket at one path. Its first bytes, sent with the head, are the request as JSON and a
 * line feed; then it echoes the received bytes. Any other path responds with 403.
 */
function upgrade(request: IncomingMessage, connection: Duplex, head: Buffer): void {
  const { url: target = '', method, headers } = request;
  if (target.split('?', 1)[0] !== UPGRADE_PATH) {
    connection.end('HTTP/1.1 403 Forbidden\r\ncontent-length: 8\r\n\r\ndeclined');
    return;
  }
  const accepted = [
    'HTTP/1.1 101 Switching Protocols',
    'upgrade: websocket',
    'connection: Upgrade',
    `sec-websocket-accept: ${acceptKey(headers['sec-websocket-key'] ?? '')}`,
  ];
  const first = `${JSON.stringify({ method, target, headers })}\n`;
  connection.write(`${accepted.join('\r\n')}\r\n\r\n${first}`);
  connection.write(head);
  connection.pipe(connection);
}

async function listen(server: Server, options: ListenOptions): Promise<void> {
  server.listen(options);
  await once(server, 'listening');
}

async function serve(
  reference: ReferenceModule,
  incoming: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const request = await readRequest(incoming);
  // The connection was closed before the end of the body.
  if (request === null) return;
  const answer = request.target === MANIFEST_PATH ? null : await reference.answer(request);
  if (response.destroyed) return;
  if (answer === null) send(response, describeManifest(reference));
  else if (answer.fault !== undefined) injectFault(answer.fault, incoming.socket);
  else send(response, answer);
}

async function readRequest(incoming: IncomingMessage): Promise<ReferenceRequest | null> {
  const chunks: Buffer[] = [];
  try {
    for await (const chunk of incoming) chunks.push(chunk as Buffer);
  } catch {
    return null;
  }
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(incoming.headers)) {
    headers[name] = Array.isArray(value) ? value.join(', ') : String(value);
  }
  return {
    method: incoming.method ?? '',
    target: incoming.url ?? '',
    headers,
    body: Buffer.concat(chunks),
  };
}

function describeManifest(reference: ReferenceModule): ReferenceAnswer {
  const body = Buffer.from(JSON.stringify(reference.manifest));
  return { status: 200, headers: { 'content-type': 'application/json' }, body };
}

function send(response: ServerResponse, { status, headers, body }: ReferenceAnswer): void {
  response.statusCode = status;
  for (const [name, value] of Object.entries(headers)) {
    response.setHeader(name, typeof value === 'string' ? value : [...value]);
  }
  // Node sets no length on a response to HEAD.
  if (body !== null) response.setHeader('content-length', body.length);
  response.end(body ?? undefined);
}

const HEAD = 'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 1000000\r\n\r\n';
const ENDLESS_HEAD =
  'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n';
const ENDLESS_CHUNK = `64\r\n${' '.repeat(100)}\r\n`;
const PART_INTERVAL_MS = 10;

const FAULTS: Readonly<Record<ReferenceFault, (socket: Socket) => void>> = {
  malformed: (socket) => socket.end('HTTP/1.1 not a status line\r\n\r\n'),
  cut_short: (socket) => socket.end(`${HEAD}{"cut":`),
  half_close: (socket) => socket.end(),
  reset: (socket) => {
    // A Unix socket cannot be reset: its peer sees a close.
    if (socket.remoteAddress === undefined) socket.destroy();
    else socket.resetAndDestroy();
  },
  trickle: (socket) => sendForever(socket, HEAD, ' '),
  endless: (socket) => sendForever(socket, ENDLESS_HEAD, ENDLESS_CHUNK),
};

function sendForever(socket: Socket, head: string, part: string): void {
  socket.write(head);
  const timer = setInterval(() => socket.write(part), PART_INTERVAL_MS);
  socket.on('close', () => clearInterval(timer));
}

/** Injects the fault into an HTTP/1.1 connection. */
function injectFault(fault: ReferenceFault, socket: Socket): void {
  FAULTS[fault](socket);
}
