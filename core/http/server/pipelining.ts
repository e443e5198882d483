import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { BatchQueue } from '../../lib/batch-queue.js';

/** The requests that a connection has brought. */
interface ConnectionQueue {
  /** How many there were. */
  requests: number;
  /** Their answers that are not out yet, in the order of the requests. */
  readonly pending: ServerResponse[];
}

const queueBySocket = new WeakMap<Duplex, ConnectionQueue>();

interface Arrival {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

/**
 * Hands on the requests of a connection one after the other. Node hands on all that a connection has sent,
 * and would call a provider for a request that stands behind one which is refused together with the
 * connection: a request that was hidden there must be heard by nobody (request smuggling). Those of all
 * connections are handed on together, at the end of a turn of the event loop.
 * @param maxRequests the last of them is answered, and then the connection is closed; Node would answer the
 * next with an empty 503
 */
export function serializeRequests(listener: RequestListener, maxRequests: number): RequestListener {
  const arrivals = new BatchQueue<Arrival>(({ request, response }) => {
    // Ended in the meantime, or with the answer before: what stood behind that belongs to nobody.
    if (request.socket.writable) listener(request, response);
  });
  return (request, response) => {
    const { socket } = request;
    const turns = queueOf(socket);
    turns.requests += 1;
    if (turns.requests >= maxRequests) response.shouldKeepAlive = false;
    const before = turns.pending.at(-1);
    turns.pending.push(response);
    response.on('close', forgetAnswer);
    const arrival = { request, response };
    if (before === undefined) arrivals.add(arrival);
    else before.once('close', () => arrivals.add(arrival));
  };
}

/** The answers of a connection that are not out yet, in the order of the requests. */
export function pendingAnswers(socket: Duplex): readonly ServerResponse[] {
  return queueBySocket.get(socket)?.pending ?? [];
}

function queueOf(socket: Duplex): ConnectionQueue {
  let turns = queueBySocket.get(socket);
  if (turns === undefined) {
    turns = { requests: 0, pending: [] };
    queueBySocket.set(socket, turns);
  }
  return turns;
}

function forgetAnswer(this: ServerResponse): void {
  const { pending } = queueOf(this.req.socket);
  const at = pending.indexOf(this);
  if (at !== -1) pending.splice(at, 1);
}
