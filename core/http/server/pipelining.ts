import type { RequestListener, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { BatchQueue } from '../../lib/batch-queue.js';

/** Unanswered requests of a connection; while it has as many, the host reads nothing more from it. */
const MAX_UNANSWERED = 100;

const pipelines = new WeakMap<Duplex, Pipeline>();

/**
 * Handles the requests of a connection one at a time. Node emits all that a connection has sent, and would call
 * a provider for a request behind one that is rejected together with the connection: a request that was
 * smuggled there must not be handled. The requests of all connections are handled at the end of a turn of the
 * event loop.
 * @param maxRequests the last of them is answered, then the connection is closed; Node would answer the next
 * one with an empty 503
 */
export function serializeRequests(listener: RequestListener, maxRequests: number): RequestListener {
  const arrivals = new BatchQueue<ServerResponse>((response) => {
    // The connection may have ended meanwhile: what follows its end is ignored.
    if (response.req.socket.writable) listener(response.req, response);
  });
  return ({ socket, headers }, response) => {
    const pipeline = pipelineOf(socket);
    pipeline.received += 1;
    // Node drops the bytes behind a request for an upgrade and would read the next ones as a new request.
    const isLast = pipeline.received >= maxRequests || headers.upgrade !== undefined;
    if (isLast) response.shouldKeepAlive = false;
    pipeline.add(response, arrivals);
  };
}

/**
 * Calls `end` once all requests that arrived completely have been answered, or never if the connection ends
 * before. `isInterrupted`: whether part of a response to an incomplete request has been sent.
 */
export function endPipeline(socket: Duplex, end: (isInterrupted: boolean) => void): void {
  pipelineOf(socket).endWith(end);
}

/** The requests of one connection. */
class Pipeline {
  /** Requests so far. */
  received = 0;
  readonly #socket: Duplex;
  /** The responses that have not been sent, in the order of the requests; the first one is in progress. */
  #unanswered: ServerResponse[] = [];
  #end: ((isInterrupted: boolean) => void) | null = null;

  constructor(socket: Duplex) {
    this.#socket = socket;
    // Node resumes the socket when a body is read.
    socket.on('resume', () => {
      if (this.#isFull) socket.pause();
    });
  }

  add(response: ServerResponse, arrivals: BatchQueue<ServerResponse>): void {
    this.#unanswered.push(response);
    response.on('close', () => this.#remove(response, arrivals));
    if (this.#unanswered.length === 1) arrivals.add(response);
    else if (this.#isFull) this.#socket.pause();
  }

  endWith(end: (isInterrupted: boolean) => void): void {
    this.#end ??= end;
    this.#endIfAnswered();
  }

  get #isFull(): boolean {
    return this.#unanswered.length >= MAX_UNANSWERED;
  }

  #remove(response: ServerResponse, arrivals: BatchQueue<ServerResponse>): void {
    if (response !== this.#unanswered[0]) return;
    if (!this.#socket.writable) {
      this.#unanswered = [];
      return;
    }
    const wasFull = this.#isFull;
    this.#unanswered.shift();
    if (wasFull && !this.#isFull) this.#socket.resume();
    const [next] = this.#unanswered;
    if (!this.#endIfAnswered() && next !== undefined) arrivals.add(next);
  }

  #endIfAnswered(): boolean {
    const [first] = this.#unanswered;
    // Only the last request can be incomplete: then the error is about it.
    if (this.#end === null || first?.req.complete === true) return false;
    this.#end(first?.headersSent === true);
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
