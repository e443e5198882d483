import { type IncomingMessage, type RequestListener, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { closeLingering } from '../../lib/linger.js';
import { readHandshake } from './handshake.js';
import { findCurrent } from './pipelining.js';

const SWITCHING_PROTOCOLS = 101;
/** Once so much follows a handshake, no more is read until its WebSocket is open. Bytes. */
const MAX_READ_AHEAD_BYTES = 16_384;

const waiting = new WeakMap<IncomingMessage, WaitingConnection>();

/** Returns the connection of a handshake, with the bytes that were read ahead. */
export function releaseConnection(request: IncomingMessage): Duplex {
  waiting.get(request)?.release();
  return request.socket;
}

/**
 * Handles a WebSocket handshake like any other request. Node transfers its connection without a
 * response and without a parser. Later bytes of the client wait until a WebSocket is open.
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
  waiting.set(request, new WaitingConnection(socket));
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

/** Reads ahead on a connection whose handshake waits, to notice when its client closes it. */
class WaitingConnection {
  readonly #socket: Duplex;
  readonly #chunks: Buffer[] = [];
  #bytes = 0;

  constructor(socket: Duplex) {
    this.#socket = socket;
    socket.on('data', this.#onData).on('end', this.#onEnd);
  }

  release(): void {
    this.#socket.off('data', this.#onData).off('end', this.#onEnd).pause();
    if (this.#bytes > 0) this.#socket.unshift(Buffer.concat(this.#chunks));
  }

  readonly #onData = (chunk: Buffer): void => {
    this.#chunks.push(chunk);
    this.#bytes += chunk.length;
    if (this.#bytes >= MAX_READ_AHEAD_BYTES) this.#socket.pause();
  };

  /** Ends the connection, as Node does for one with a parser. */
  readonly #onEnd = (): void => void this.#socket.end();
}
