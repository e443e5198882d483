import type { RequestListener, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { BatchQueue } from '../../lib/batch-queue.js';

/** Unanswered requests of a connection; while it has as many, the host reads nothing more from it. */
const MAX_UNANSWERED = 100;
/**
 * Requests behind the one in progress, of all connections: about 3 KB each. Node parses all that it has read, so
 * that one connection can have 2,500 of them.
 */
const MAX_WAITING = 16_384;

const pipelines = new WeakMap<Duplex, Pipeline>();

/**
 * Handles the requests of a connection one at a time. Node emits all that a connection has sent, and would call
 * a provider for a request behind one that is rejected together with the connection: a request that was
 * smuggled there must not be handled. The requests of all connections are handled at the end of a turn of the
 * event loop.
 * @param maxWaiting the connection that has one more request waiting, over all connections, is closed
 * @param maxRequests the last of them is answered, then the connection is closed; Node would answer the next
 * one with an empty 503
 */
export function serializeRequests(
  listener: RequestListener,
  maxRequests: number,
  maxWaiting: number = MAX_WAITING,
): RequestListener {
  const queue: RequestQueue = {
    arrivals: new BatchQueue<ServerResponse>((response) => {
      const { socket } = response.req;
      // The connection may have ended meanwhile: what follows its end is ignored.
      if (!socket.writable) return;
      // The response to a handshake gets its connection in its turn.
      if (response.socket === null) response.assignSocket(socket);
      listener(response.req, response);
    }),
    waiting: 0,
    maxWaiting,
  };
  return ({ socket, headers }, response) => {
    const pipeline = pipelineOf(socket);
    pipeline.received += 1;
    // Node drops the bytes behind a request for an upgrade and would read the next ones as a new request.
    const isLast = pipeline.received >= maxRequests || headers.upgrade !== undefined;
    if (isLast) response.shouldKeepAlive = false;
    pipeline.add(response, queue);
  };
}

/** The response to the request in progress; `null` without one. */
export function findCurrent(socket: Duplex): ServerResponse | null {
  return pipelines.get(socket)?.current ?? null;
}

/** Gets the response to the request that is incomplete; `null` without one. */
type PipelineEnd = (incomplete: ServerResponse | null) => void;

/**
 * Calls `end` once all requests that arrived completely have been answered, or never if the connection ends
 * before.
 */
export function endPipeline(socket: Duplex, end: PipelineEnd): void {
  pipelineOf(socket).endWith(end);
}

/** The requests of all connections. */
interface RequestQueue {
  readonly arrivals: BatchQueue<ServerResponse>;
  /** Requests behind the one in progress of their connection. */
  waiting: number;
  readonly maxWaiting: number;
}

/** The requests of one connection. */
class Pipeline {
  /** Requests so far. */
  received = 0;
  readonly #socket: Duplex;
  /** The responses that have not been sent, in the order of the requests; the first one is in progress. */
  #unanswered: ServerResponse[] = [];
  #end: PipelineEnd | null = null;
  #queue: RequestQueue | null = null;

  constructor(socket: Duplex) {
    this.#socket = socket;
    // Node resumes the socket when a body is read.
    socket.on('resume', () => {
      if (this.#isFull) socket.pause();
    });
    socket.once('close', () => this.#clear());
  }

  add(response: ServerResponse, queue: RequestQueue): void {
    // Node emits the rest of what it has read after the connection is closed.
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
    // Only the last request can be incomplete: then the error is about it.
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
