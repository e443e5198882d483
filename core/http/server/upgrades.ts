import { type IncomingMessage, type RequestListener, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { closeLingering } from '../../lib/linger.js';
import { readHandshake } from './handshake.js';
import { findCurrent } from './pipelining.js';

const SWITCHING_PROTOCOLS = 101;

/**
 * Handles a WebSocket handshake like any other request. Node transfers its connection without a
 * response and without a parser. Later bytes of the client wait in the connection until a WebSocket
 * is open.
 * @param listener receives the request when it is next in order
 */
export function answerUpgrade(
  request: IncomingMessage,
  connection: Duplex,
  head: Buffer,
  listener: RequestListener,
): void {
  // The sockets of an HTTP server are of this type.
  const socket = connection as Socket;
  // Node has removed its own listeners.
  socket.on('error', () => socket.destroy());
  if (head.length > 0) socket.unshift(head);
  readHandshake(request);
  const response = new ServerResponse(request);
  const drain = () => findCurrent(socket)?.emit('drain');
  // The responses to earlier requests are still sent.
  socket.on('drain', drain);
  response.once('socket', () => {
    socket.off('drain', drain);
    socket.setTimeout(0);
  });
  response.once('finish', () => {
    if (response.statusCode !== SWITCHING_PROTOCOLS) closeLingering(socket);
  });
  listener(request, response);
}
