import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { RawHeader } from '../../core/selftest/raw-http.js';

export interface ProviderRequest {
  readonly method: string;
  /** The raw request target. */
  readonly target: string;
  /** The headers in wire order, with names as received and values as latin-1. */
  readonly headers: readonly RawHeader[];
  readonly body: Buffer;
}

/** A normal response. Only the framing, `date` and `connection` are added. */
interface PlainAnswer {
  /** Default 200. */
  readonly status?: number;
  /** Default `content-type: application/json`. */
  readonly headers?: readonly RawHeader[];
  /** Default `{"ok":true}`. Strings are UTF-8; `null` sends no body. */
  readonly body?: string | Uint8Array | null;
  /** Milliseconds before the status line. */
  readonly delayMs?: number;
  /** Awaited before the status line. */
  readonly after?: Promise<void>;
}

/** Exact bytes, with strings as latin-1. A number is a pause in milliseconds. */
interface RawAnswer {
  readonly raw: readonly (string | Uint8Array | number)[];
  /** The connection after the response. Default `end`. */
  readonly finally?: 'end' | 'reset' | 'hang';
}

export type Answer = PlainAnswer | RawAnswer;

export interface EchoProvider {
  readonly url: string;
  readonly port: number;
  /** The requests since the last `reset`, in order. */
  readonly requests: readonly ProviderRequest[];
  /** The only request since the last `reset`. @throws for none or several. */
  only(): ProviderRequest;
  /** Sets the response to all further requests. */
  answer(answer: Answer): void;
  /** Removes all requests and restores the default response. */
  reset(): void;
  close(): Promise<void>;
}

const JSON_HEADERS: readonly RawHeader[] = [['content-type', 'application/json']];

/** A provider on a free port, of loopback unless another address is given. */
export async function startEchoProvider(address = '127.0.0.1'): Promise<EchoProvider> {
  const requests: ProviderRequest[] = [];
  const timers = new Set<NodeJS.Timeout>();
  let current: Answer = {};
  const pause = (ms: number) =>
    new Promise<void>((resolve) => {
      const timer = setTimeout(() => {
        timers.delete(timer);
        resolve();
      }, ms);
      timers.add(timer);
    });

  const server = createServer((request, response) => {
    // Responds after the complete request, so that a test finds it recorded.
    void readBody(request).then((body) => {
      requests.push(record(request, body));
      void give(current, response, pause);
    });
  });
  server.keepAliveTimeout = 0;
  await new Promise<void>((resolve) => server.listen(0, address, resolve));
  const { port } = server.address() as AddressInfo;

  return {
    url: `http://127.0.0.1:${port}`,
    port,
    requests,
    only: () => {
      const [first] = requests;
      if (first === undefined || requests.length > 1) {
        throw new Error(`expected one request at the provider, got ${requests.length}`);
      }
      return first;
    },
    answer: (answer) => {
      current = answer;
    },
    reset: () => {
      requests.length = 0;
      current = {};
    },
    close: async () => {
      for (const timer of timers) clearTimeout(timer);
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
}

async function readBody(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  try {
    for await (const chunk of request) chunks.push(chunk as Buffer);
  } catch {
    // The host disconnected within the body. The partial request is recorded too.
  }
  return Buffer.concat(chunks);
}

function record(request: IncomingMessage, body: Buffer): ProviderRequest {
  const headers: RawHeader[] = [];
  for (let at = 0; at < request.rawHeaders.length; at += 2) {
    headers.push([request.rawHeaders[at] ?? '', request.rawHeaders[at + 1] ?? '']);
  }
  return { method: request.method ?? '', target: request.url ?? '', headers, body };
}

type Pause = (ms: number) => Promise<void>;

async function give(answer: Answer, response: ServerResponse, pause: Pause): Promise<void> {
  if ('raw' in answer) {
    const socket = response.socket;
    if (socket !== null) await giveRaw(answer, socket, pause);
    return;
  }
  if (answer.delayMs !== undefined) await pause(answer.delayMs);
  await answer.after;
  const body = answer.body === undefined ? '{"ok":true}' : answer.body;
  const bytes = Buffer.from(body ?? '');
  const headers = (answer.headers ?? JSON_HEADERS).flat();
  const status = answer.status ?? 200;
  if (status !== 204 && status !== 304) headers.push('content-length', `${bytes.length}`);
  response.writeHead(status, headers);
  response.end(bytes);
}

async function giveRaw(answer: RawAnswer, socket: Socket, pause: Pause): Promise<void> {
  for (const piece of answer.raw) {
    if (typeof piece === 'number') await pause(piece);
    else if (socket.writable) socket.write(toBuffer(piece));
  }
  if (answer.finally === 'reset') socket.resetAndDestroy();
  else if (answer.finally !== 'hang') socket.end();
}

function toBuffer(piece: string | Uint8Array): Uint8Array {
  return typeof piece === 'string' ? Buffer.from(piece, 'latin1') : piece;
}
