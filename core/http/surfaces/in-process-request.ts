import http, { type IncomingMessage } from 'node:http';
import type { HostRequest } from '../../contract/index.js';
import { assertSendable } from '../../lib/surface-rules.js';
import { createInProcessConnection, type InProcessCaller } from './in-process-connection.js';

/** Accepts connections that have no socket. */
export interface InProcessServer {
  accept(connection: ReturnType<typeof createInProcessConnection>['server']): void;
}

/** The maximum head of a response: raw responses of modules may expose many headers. Bytes. */
const MAX_RESPONSE_HEAD_BYTES = 65_536;
const NO_BODY: ReadonlySet<number> = new Set([204, 205, 304]);

/**
 * Sends one request over a connection in memory, through the same parser and chain as any other.
 * @throws TypeError for an invalid request; the reason of its signal.
 */
export async function requestInProcess(
  server: InProcessServer,
  caller: InProcessCaller,
  { method = 'GET', target, headers = {}, body = null, signal }: HostRequest,
): Promise<Response> {
  assertSendable(method, headers);
  signal?.throwIfAborted();
  const connection = createInProcessConnection(caller);
  const bytes = typeof body === 'string' ? Buffer.from(body) : body;
  const request = http.request({
    createConnection: () => connection.client,
    method,
    path: target,
    headers: {
      ...headers,
      host: 'localhost',
      ...(bytes !== null && { 'content-length': bytes.length }),
    },
    maxHeaderSize: MAX_RESPONSE_HEAD_BYTES,
  });
  server.accept(connection.server);
  const abort = () => request.destroy(toError(signal?.reason));
  signal?.addEventListener('abort', abort, { once: true });
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    request.once('response', resolve);
    // Remains, because an error after the response belongs to its body.
    request.on('error', reject);
    request.end(bytes ?? undefined);
  });
  response.once('close', () => signal?.removeEventListener('abort', abort));
  return toWebResponse(response, method);
}

function toWebResponse(message: IncomingMessage, method: string): Response {
  const { statusCode: status = 500, rawHeaders } = message;
  const headers = new Headers();
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    const name = rawHeaders[index]?.toLowerCase() ?? '';
    // These headers describe the connection in memory.
    if (name === 'connection' || name === 'transfer-encoding' || name === 'keep-alive') continue;
    headers.append(name, rawHeaders[index + 1] ?? '');
  }
  if (method === 'HEAD' || NO_BODY.has(status)) {
    message.resume();
    return new Response(null, { status, headers });
  }
  return new Response(toWebStream(message), { status, headers });
}

function toWebStream(message: IncomingMessage): ReadableStream<Uint8Array> {
  const chunks: AsyncIterator<Buffer> = message[Symbol.asyncIterator]();
  return new ReadableStream<Uint8Array>(
    {
      pull: async (controller) => {
        const { done, value } = await chunks.next();
        if (done) controller.close();
        else controller.enqueue(new Uint8Array(value));
      },
      cancel: () => {
        message.destroy();
      },
    },
    { highWaterMark: 0 },
  );
}

function toError(reason: unknown): Error {
  return reason instanceof Error ? reason : new Error('the request was aborted', { cause: reason });
}
