import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Log } from '../../contract/index.js';
import { BatchQueue } from '../../lib/batch-queue.js';
import { BODILESS, type Reply } from '../../operations/reply.js';
import type { HeldMemory } from '../../provider/held-memory.js';
import { UnreadBytes } from '../../provider/unread-bytes.js';
import type { RequestIds } from '../request/caller-headers.js';

interface RepliedRequest extends RequestIds {
  /** Counts what the client has not read. */
  readonly held?: Pick<HeldMemory, 'beginSending' | 'keepOnly'>;
  /** Counts the memory of a request without an actor for its client. */
  identifyClient?(): void;
  /** Whether the connection is closed after the reply. Default false. */
  readonly isLast?: boolean;
}

interface QueuedReply {
  readonly response: ServerResponse;
  readonly request: RepliedRequest;
  /** Runs before the reply is written; `null` if the client has closed the connection. */
  readonly finish: () => Reply | null;
}

export interface ReplyQueueOptions {
  readonly log: Log;
  /** Read when a reply is written, so that requests in flight also close their connections. */
  readonly lifecycle: { readonly isClosing: boolean };
  /**
   * The connection is closed if the client reads no part of a response for this long. Milliseconds.
   */
  readonly sendTimeoutMs: number;
}

/**
 * Finishes the requests of one turn of the event loop together: the last steps of each, then its
 * reply. Separate writes would wake up a sleeping client for each, which costs the kernel more than
 * the write itself.
 */
export class ReplyQueue {
  readonly #options: ReplyQueueOptions;
  readonly #queue = new BatchQueue<QueuedReply>((queued) => this.#write(queued));

  constructor(options: ReplyQueueOptions) {
    this.#options = options;
  }

  add(response: ServerResponse, request: RepliedRequest, finish: () => Reply | null): void {
    const queued = { response, request, finish };
    // A client that is still sending gets its response at once, because later bytes may close the
    // connection.
    if (response.req.complete) this.#queue.add(queued);
    else this.#write(queued);
  }

  #write({ response, request, finish }: QueuedReply): void {
    const { lifecycle, sendTimeoutMs, log } = this.#options;
    try {
      const reply = finish();
      if (reply === null) return;
      writeReply(response, reply, request, lifecycle.isClosing || request.isLast === true);
      if (response.socket === null || response.writableLength === 0) return;
      // Small responses fit into the buffers of the system.
      if (request.held !== undefined) holdUnread(response, request, request.held);
      setSendTimeout(response, response.socket, sendTimeoutMs);
    } catch (error) {
      log.error({ err: error, request_id: request.requestId }, 'response could not be written');
      response.destroy();
    }
  }
}

/** The reply was reserved without its head and its envelope, and a Problem not at all. */
function holdUnread(
  response: ServerResponse,
  request: RepliedRequest,
  held: NonNullable<RepliedRequest['held']>,
): void {
  held.beginSending();
  request.identifyClient?.();
  const onRejected = () => void response.destroy();
  new UnreadBytes({ targets: [response], held, onRejected }).check();
}

/**
 * Closes the connection if the client reads no part of the response for `timeoutMs`, since the rest
 * is held in memory.
 */
export function setSendTimeout(response: ServerResponse, socket: Socket, timeoutMs: number): void {
  // Node destroys a socket that times out without a listener for it.
  socket.setTimeout(timeoutMs);
  // Runs before Node sets the idle timeout in the same event.
  response.prependOnceListener('finish', () => socket.setTimeout(0));
}

/** Closes the connection behind a response whose head may precede the end of the host. */
export function closeWithHost(
  response: ServerResponse,
  lifecycle: ReplyQueueOptions['lifecycle'],
): void {
  response.once('finish', () => {
    if (lifecycle.isClosing) response.req.socket.end();
  });
}

const NO_STORE = 'no-store';
/**
 * The longest body whose pieces are joined: copying is then cheaper than separate writes. Bytes.
 */
const JOINED_BYTES = 16_384;

/** No response becomes a page that acts on the origin of the host, whatever its type is. */
const SANDBOX = "sandbox; default-src 'none'";
/**
 * The headers of a response: names and values in turn.
 * @param isLast whether the connection is closed after the response
 */
export function listHeaders(
  { status, contentType, cacheControl, headers, contentLength }: Reply,
  { requestId, correlationId }: RequestIds,
  isLast: boolean,
): string[] {
  const head = ['x-request-id', requestId, 'x-correlation-id', correlationId];
  head.push('x-content-type-options', 'nosniff', 'content-security-policy', SANDBOX);
  head.push('cache-control', cacheControl ?? NO_STORE);
  if (contentType !== null) head.push('content-type', contentType);
  head.push(...headers);
  // Placed after `content-disposition`, whose characters Node garbles after a length.
  if (!BODILESS.has(status) && contentLength !== null) {
    head.push('content-length', String(contentLength));
  }
  if (isLast && !headers.includes('connection')) head.push('connection', 'close');
  return head;
}

/** @param isLast whether the connection is closed after the response */
function writeReply(
  response: ServerResponse,
  reply: Reply,
  ids: RequestIds,
  isLast: boolean,
): void {
  const { status, pieces, length } = reply;
  response.writeHead(status, listHeaders(reply, ids, isLast));
  if (response.req.method === 'HEAD') response.end();
  else if (length <= JOINED_BYTES) response.end(Buffer.concat(pieces, length));
  else {
    for (const piece of pieces) response.write(piece);
    response.end();
  }
}
