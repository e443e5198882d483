import { type IncomingMessage, type RequestListener, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { takeHandshake } from './handshake.js';
import { findCurrent } from './pipelining.js';

/** The time in which the client can read the response before the connection is closed. Milliseconds. */
const LINGER_MS = 1000;
const SWITCHING_PROTOCOLS = 101;

/**
 * Handles a WebSocket handshake as any other request: Node hands over its connection, without a response and without a
 * parser. What the client sends behind it waits in the connection until a WebSocket is open.
 * @param listener gets it in its turn
 */
export function answerUpgrade(
  request: IncomingMessage,
  connection: Duplex,
  head: Buffer,
  listener: RequestListener,
): void {
  // Node emits the sockets of its server.
  const socket = connection as Socket;
  // Node has removed its own listeners.
  socket.on('error', () => socket.destroy());
  if (head.length > 0) socket.unshift(head);
  takeHandshake(request);
  const response = new ServerResponse(request);
  const drain = () => findCurrent(socket)?.emit('drain');
  // The responses to the requests before are still sent.
  socket.on('drain', drain);
  response.once('socket', () => {
    socket.off('drain', drain);
    socket.setTimeout(0);
  });
  response.once('finish', () => {
    if (response.statusCode !== SWITCHING_PROTOCOLS) endConnection(socket);
  });
  listener(request, response);
}

/** Cut at once, the connection could lose the response; a client that never closes must not keep it open. */
function endConnection(socket: Socket): void {
  const cut = setTimeout(() => socket.destroy(), LINGER_MS);
  socket.once('close', () => clearTimeout(cut));
  socket.once('end', () => socket.destroy());
  socket.end();
  socket.resume();
}
