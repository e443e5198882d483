import { STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { HostError } from '../../errors.js';
import { createIds, type RequestIds } from '../request/ids.js';
import { createProblemReply } from '../response/problem.js';
import { listHeaders } from '../response/reply.js';
import { pendingAnswers } from './pipelining.js';

// What Node's parser and timers refuse before there is a request (contract 1.1: 400, 408 or 431).
const STATUS_BY_CODE: ReadonlyMap<string, number> = new Map([
  ['HPE_HEADER_OVERFLOW', 431],
  ['ERR_HTTP_REQUEST_TIMEOUT', 408],
]);

const DETAILS: ReadonlyMap<number, string> = new Map([
  [400, 'the request is not well-formed HTTP'],
  [408, 'the request did not arrive in time'],
  [431, 'the head of the request is too large'],
]);

/** Told of each refusal that was answered: there is no request that would be in the log. */
export type RejectionObserver = (ids: RequestIds, status: number) => void;

/**
 * Answers what the parser refused with a Problem over the raw socket, behind the answers to the requests
 * that came before it, and closes the connection.
 */
export function answerParserError(
  error: Error & { code?: string },
  socket: Duplex,
  onRefused: RejectionObserver,
): void {
  if (!socket.writable || error.code === 'ECONNRESET') {
    socket.destroy();
    return;
  }
  const pending = pendingAnswers(socket).filter(({ req }) => req.complete);
  const last = pending.at(-1);
  if (last !== undefined) {
    last.once('close', () => answerParserError(error, socket, onRefused));
    return;
  }
  // A second answer behind a half-written one would be read as part of it.
  if (pendingAnswers(socket).some((response) => response.headersSent)) {
    socket.destroy();
    return;
  }
  const status = STATUS_BY_CODE.get(error.code ?? '') ?? 400;
  const detail = DETAILS.get(status) ?? 'the request is not well-formed HTTP';
  endWith(socket, new HostError('validation_failed', detail, { status }), onRefused);
}

/** For the answer to be read before the connection is gone. Milliseconds. */
const LINGER_MS = 1000;

/** CONNECT asks for a tunnel, and this host is none. */
export function answerConnect(socket: Duplex, onRefused: RejectionObserver): void {
  const detail = 'the method CONNECT is not implemented';
  endWith(socket, new HostError('validation_failed', detail, { status: 501 }), onRefused);
}

/** A caller that never closes its side must not hold the connection; one that is cut at once may lose the answer. */
function endWith(socket: Duplex, error: HostError, onRefused: RejectionObserver): void {
  const ids = createIds();
  socket.end(formatAnswer(error, ids));
  onRefused(ids, error.status);
  const cut = setTimeout(() => socket.destroy(), LINGER_MS);
  socket.once('close', () => clearTimeout(cut));
}

function formatAnswer(error: HostError, ids: RequestIds): Buffer {
  const reply = createProblemReply(error, ids, undefined);
  const lines = [`HTTP/1.1 ${error.status} ${STATUS_CODES[error.status]}`];
  const headers = listHeaders(reply, ids, true);
  for (let at = 0; at < headers.length; at += 2) lines.push(`${headers[at]}: ${headers[at + 1]}`);
  return Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`), ...reply.body.pieces]);
}
