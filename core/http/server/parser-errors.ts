import { STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { HostError } from '../../errors.js';
import { createIds, type RequestIds } from '../request/ids.js';
import { createProblemReply } from '../response/problem.js';
import { listHeaders } from '../response/write-reply.js';
import { endPipeline } from './pipelining.js';

/** For the client to read the response before the connection is closed. Milliseconds. */
const LINGER_MS = 1000;

// Errors of Node's parser and timers, which occur before there is a request; all others are 400.
const STATUS_BY_CODE: ReadonlyMap<string, number> = new Map([
  ['HPE_HEADER_OVERFLOW', 431],
  ['ERR_HTTP_REQUEST_TIMEOUT', 408],
]);

const DETAILS: ReadonlyMap<number, string> = new Map([
  [408, 'the request did not arrive in time'],
  [431, 'the head of the request is too large'],
]);

/** Called after each rejection: without a request there is no line `request` in the log. */
export type RejectionObserver = (ids: RequestIds, status: number) => void;

/**
 * Sends a Problem for an error of the parser, after the responses to the requests before it, and closes the
 * connection.
 */
export function answerParserError(
  error: Error & { code?: string },
  socket: Duplex,
  onRejected: RejectionObserver,
): void {
  if (!socket.writable || error.code === 'ECONNRESET') {
    socket.destroy();
    return;
  }
  const status = STATUS_BY_CODE.get(error.code ?? '') ?? 400;
  const detail = DETAILS.get(status) ?? 'the request is not well-formed HTTP';
  const problem = new HostError('validation_failed', detail, { status });
  endPipeline(socket, (isInterrupted) => {
    // The client would read the Problem as part of the interrupted response.
    if (isInterrupted) socket.destroy();
    else endWith(socket, problem, onRejected);
  });
}

/** Rejects CONNECT: the host is not a tunnel. */
export function answerConnect(socket: Duplex, onRejected: RejectionObserver): void {
  // Node has removed its own listener.
  socket.on('error', () => socket.destroy());
  const detail = 'the method CONNECT is not implemented';
  const problem = new HostError('validation_failed', detail, { status: 501 });
  endPipeline(socket, () => endWith(socket, problem, onRejected));
}

/** Cut at once, the connection could lose the Problem; a client that never closes must not keep it open. */
function endWith(socket: Duplex, problem: HostError, onRejected: RejectionObserver): void {
  const ids = createIds(null);
  socket.end(formatResponse(problem, ids));
  onRejected(ids, problem.status);
  const cut = setTimeout(() => socket.destroy(), LINGER_MS);
  socket.once('close', () => clearTimeout(cut));
}

function formatResponse(problem: HostError, ids: RequestIds): Buffer {
  // The path is not known for certain, so it may be below `/modules/`.
  const reply = createProblemReply(problem, ids, { headers: ['modgate-origin', 'host'] });
  const lines = [`HTTP/1.1 ${reply.status} ${STATUS_CODES[reply.status]}`];
  const headers = listHeaders(reply, ids, true);
  for (let at = 0; at < headers.length; at += 2) lines.push(`${headers[at]}: ${headers[at + 1]}`);
  return Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`), ...reply.pieces]);
}
