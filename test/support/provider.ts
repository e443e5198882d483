import { once } from 'node:events';
import {
  createServer,
  type Server as HttpServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type RequestListener,
  type ServerResponse,
} from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import {
  type AddressInfo,
  createServer as createRawServer,
  type Server,
  type Socket,
} from 'node:net';
import type { Duplex } from 'node:stream';
import type { TlsOptions } from 'node:tls';

export interface ReceivedRequest {
  readonly method: string;
  /** The raw request target. */
  readonly target: string;
  readonly headers: IncomingHttpHeaders;
  /** Names and values as sent, in order. */
  readonly rawHeaders: readonly string[];
  readonly body: Buffer;
}

export interface RunningProvider {
  readonly url: string;
  readonly port: number;
  /** Open connections. */
  readonly sockets: ReadonlySet<Socket>;
  /** Connections accepted so far. */
  readonly accepted: () => number;
  stop(): Promise<void>;
}

export interface ScriptedProvider extends RunningProvider {
  /** Complete requests, in the order of their last byte. */
  readonly requests: readonly ReceivedRequest[];
}

export interface ProviderOptions {
  /** Serves HTTPS with this key and certificate. */
  readonly tls?: TlsOptions;
  /** Listens on this Unix socket. `url` and `port` are then unused. */
  readonly socketPath?: string;
  /** Called with the head of a request. Returns whether it handles it: such a request is not recorded. */
  readonly onHead?: (request: IncomingMessage, response: ServerResponse) => boolean;
  /** Handles upgrades. What follows an upgrade is recorded as its body. */
  readonly onUpgrade?: (request: IncomingMessage, connection: Duplex, head: Buffer) => void;
}

/** Responds with 200 and `value` as JSON. */
export function answerJson(value: unknown): RequestListener {
  const body = Buffer.from(JSON.stringify(value));
  return (_request, response) => {
    response.setHeader('content-type', 'application/json');
    response.end(body);
  };
}

/** Starts an HTTP provider on a free port. `handler` is called after the complete request. */
export async function startProvider(
  handler: RequestListener = answerJson({}),
  options: ProviderOptions = {},
): Promise<ScriptedProvider> {
  const requests: ReceivedRequest[] = [];
  const { onHead, onUpgrade } = options;
  const listener: RequestListener = (request, response) => {
    if (onHead?.(request, response)) return;
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      requests.push(record(request, chunks));
      handler(request, response);
    });
  };
  const server: HttpServer =
    options.tls === undefined ? createServer(listener) : createTlsServer(options.tls, listener);
  if (onUpgrade !== undefined) {
    server.on('upgrade', (request: IncomingMessage, connection: Duplex, head: Buffer) => {
      const chunks = [head];
      connection.on('data', (chunk: Buffer) => chunks.push(chunk)).on('error', () => {});
      requests.push(record(request, chunks));
      onUpgrade(request, connection, head);
    });
  }
  return { requests, ...(await listen(server, options)) };
}

function record(
  { method = '', url = '', headers, rawHeaders }: IncomingMessage,
  chunks: readonly Buffer[],
): ReceivedRequest {
  return {
    ...{ method, target: url, headers, rawHeaders },
    get body() {
      return Buffer.concat(chunks);
    },
  };
}

/** Starts a TCP server. `onSocket` handles all bytes. */
export async function startRawProvider(
  onSocket: (socket: Socket) => void,
  options: Pick<ProviderOptions, 'socketPath'> = {},
): Promise<RunningProvider> {
  return listen(createRawServer(onSocket), options);
}

/** Starts a TCP server that sends `answer` after the head of a request, then calls `afterwards`. */
export function startAnsweringProvider(
  answer: string | Buffer,
  afterwards: (socket: Socket) => void = () => {},
): Promise<RunningProvider> {
  return startRawProvider((socket) => {
    let head = '';
    socket.on('data', (chunk) => {
      head += chunk.toString('latin1');
      if (!head.includes('\r\n\r\n')) return;
      head = '';
      socket.write(answer, () => afterwards(socket));
    });
  });
}

async function listen(server: Server, options: ProviderOptions): Promise<RunningProvider> {
  const sockets = new Set<Socket>();
  let accepted = 0;
  server.on('connection', (socket: Socket) => {
    accepted += 1;
    sockets.add(socket);
    // Many tests cause resets, which must not end the test process.
    socket.on('error', () => {});
    socket.on('close', () => sockets.delete(socket));
  });
  server.on('tlsClientError', () => {});
  if (options.socketPath === undefined) server.listen(0, '127.0.0.1');
  else server.listen(options.socketPath);
  await once(server, 'listening');
  const address = server.address() as AddressInfo | string;
  const port = typeof address === 'string' ? 0 : address.port;
  return {
    url: `${options.tls === undefined ? 'http' : 'https'}://127.0.0.1:${port}`,
    port,
    sockets,
    accepted: () => accepted,
    async stop() {
      if (!server.listening) return;
      server.close();
      for (const socket of sockets) socket.destroy();
      await once(server, 'close');
    },
  };
}
