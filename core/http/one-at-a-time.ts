import type { RequestListener, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/**
 * Hands on the requests of a connection one after the other. Node hands on all that a connection has sent,
 * and would call a provider for a request that stands behind one which is refused together with the
 * connection: a request that was hidden there must be heard by nobody (request smuggling).
 */
export function createOneAtATime(listener: RequestListener): RequestListener {
  const latest = new WeakMap<Socket, ServerResponse>();
  return (request, response) => {
    const { socket } = request;
    const before = latest.get(socket);
    latest.set(socket, response);
    if (before === undefined || before.closed) return listener(request, response);
    before.once('close', () => {
      // Ended with the answer before: what stood behind it belongs to nobody.
      if (socket.writable) listener(request, response);
    });
  };
}
