import type { RequestListener, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { BatchQueue } from '../../lib/batch-queue.js';
import { closeLingering } from '../../lib/linger.js';

/**
 * The maximum number of unanswered requests of a connection; at this number, the host stops reading
 * from it.
 */
const MAX_UNANSWERED = 100;
/**
 * The maximum number of waiting requests of all connections: about 3 KB each. Node parses
 * everything that it has read, up to 2,500 requests of one connection.
 */
const MAX_WAITING = 16_384;

const pipelines = new WeakMap<Duplex, Pipeline>();

/**
 * Handles the requests of a connection one at a time. Node emits all requests that a connection has
 * sent, and would call a provider for a request after a rejected one. A request that was smuggled
 * there must not be handled. The requests of all connections are handled at the end of a turn of
 * the event loop.
 * @param maxWaiting the maximum number of waiting requests of all connections; the connection that
 * exceeds it is closed
 * @param maxRequests the connection is closed after the response to the last of them; Node would
 * answer the next one with an empty 503
 */
export function serializeRequests(
  listener: RequestListener,
  maxRequests: number,
  maxWaiting: number = MAX_WAITING,
): RequestListener {
  const queue: RequestQueue = {
    arrivals: new BatchQueue<ServerResponse>((response) => {
      const { socket } = response.req;
      // The connection may have ended meanwhile: later requests are ignored.
      if (!socket.writable) return;
      // The response to a handshake gets its connection when it is next in order.
      if (response.socket === null) response.assignSocket(socket);
      listener(response.req, response);
    }),
    waiting: 0,
    maxWaiting,
  };
  return ({ socket, headers }, response) => {
    const pipeline = pipelineOf(socket);
    pipeline.received += 1;
    // Node drops the bytes after an upgrade request and would read the next ones as a new request.
    const isLast = pipeline.received >= maxRequests || headers.upgrade !== undefined;
    if (isLast) response.shouldKeepAlive = false;
    pipeline.add(response, queue);
  };
}

/** The response to the request in progress; `null` without one. */
export function findCurrent(socket: Duplex): ServerResponse | null {
  return pipelines.get(socket)?.current ?? null;
}

/** Receives the response to the incomplete request; `null` without one. */
type PipelineEnd = (incomplete: ServerResponse | null) => void;

/**
 * Calls `end` once all requests that arrived completely have been answered, or never if the connection ends
 * before.
 */
export function endPipeline(socket: Duplex, end: PipelineEnd): void {
  pipelineOf(socket).endWith(end);
}

interface RequestQueue {
  readonly arrivals: BatchQueue<ServerResponse>;
  /** The number of requests that wait for an earlier one of their connection. */
  waiting: number;
  readonly maxWaiting: number;
}

/** The requests of one connection. */
class Pipeline {
  /** The number of requests so far. */
  received = 0;
  readonly #socket: Duplex;
  /** The unsent responses, in the order of the requests; the first one is in progress. */
  #unanswered: ServerResponse[] = [];
  #end: PipelineEnd | null = null;
  #queue: RequestQueue | null = null;

  constructor(socket: Duplex) {
    this.#socket = socket;
    // Node resumes the socket when a body is read.
    socket.on('resume', () => {
      if (this.#isFull) socket.pause();
    });
    socket.on('close', () => this.#clear());
    this.#closeLingering(socket);
  }

  /** Node closes the connection with this method after its last response. */
  #closeLingering(socket: Duplex & { destroySoon?: () => void }): void {
    const destroySoon = socket.destroySoon?.bind(socket);
    if (destroySoon === undefined) return;
    socket.destroySoon = () => {
      const [first, next] = this.#unanswered;
      const isSending = first?.req.complete === false || next !== undefined || this.#end !== null;
      this.#clear();
      if (isSending) closeLingering(socket);
      else destroySoon();
    };
  }

  add(response: ServerResponse, queue: RequestQueue): void {
    // Node emits the rest of the bytes that it has read after the connection is closed.
    if (this.#socket.destroyed) return;
    this.#queue = queue;
    this.#unanswered.push(response);
    response.on('close', () => this.#remove(response, queue));
    if (this.#unanswered.length === 1) {
      queue.arrivals.add(response);
      return;
    }
    queue.waiting += 1;
    if (queue.waiting > queue.maxWaiting) this.#socket.destroy();
    else if (this.#isFull) this.#socket.pause();
  }

  endWith(end: PipelineEnd): void {
    this.#end ??= end;
    this.#endIfAnswered();
  }

  get current(): ServerResponse | null {
    return this.#unanswered[0] ?? null;
  }

  get #isFull(): boolean {
    return this.#unanswered.length >= MAX_UNANSWERED;
  }

  #remove(response: ServerResponse, queue: RequestQueue): void {
    if (response !== this.#unanswered[0]) return;
    if (!this.#socket.writable) {
      this.#clear();
      return;
    }
    const wasFull = this.#isFull;
    this.#unanswered.shift();
    if (wasFull && !this.#isFull) this.#socket.resume();
    const [next] = this.#unanswered;
    if (next !== undefined) queue.waiting -= 1;
    if (!this.#endIfAnswered() && next !== undefined) queue.arrivals.add(next);
  }

  #clear(): void {
    if (this.#queue !== null) this.#queue.waiting -= Math.max(0, this.#unanswered.length - 1);
    this.#unanswered = [];
  }

  #endIfAnswered(): boolean {
    const [first] = this.#unanswered;
    // Only the last request can be incomplete, and then caused the error.
    if (this.#end === null || first?.req.complete === true) return false;
    this.#end(first ?? null);
    return true;
  }
}

function pipelineOf(socket: Duplex): Pipeline {
  let pipeline = pipelines.get(socket);
  if (pipeline === undefined) {
    pipeline = new Pipeline(socket);
    pipelines.set(socket, pipeline);
  }
  return pipeline;
}
