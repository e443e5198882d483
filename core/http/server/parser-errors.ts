import { type IncomingMessage, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { type ErrorDetail, HostError } from '../../errors.js';
import { closeLingering } from '../../lib/linger.js';
import type { Reply } from '../../operations/reply.js';
import { CallerHeaders, createIds, type RequestIds } from '../request/caller-headers.js';
import { createProblemReply } from '../response/problem.js';
import { listHeaders } from '../response/reply-queue.js';
import { findInterruptible } from './interruptible-requests.js';
import { endPipeline, findCurrent } from './pipelining.js';

const REQUEST_TIMEOUT = 'ERR_HTTP_REQUEST_TIMEOUT';

// Errors of Node's parser and timers, which occur before there is a request; all other errors have
// the status 400.
const STATUS_BY_CODE: ReadonlyMap<string, number> = new Map([
  ['HPE_HEADER_OVERFLOW', 431],
  [REQUEST_TIMEOUT, 408],
]);

/** The part of the request that the parser rejects, by its code. */
const PARTS: Readonly<Record<string, ErrorDetail>> = {
  HPE_INVALID_METHOD: {
    field: 'method',
    reason: 'is not a method of HTTP/1.1, or is not HTTP at all',
  },
  HPE_INVALID_URL: {
    field: 'target',
    reason: 'has a character that must be percent-encoded, such as one beyond ASCII',
  },
  HPE_INVALID_CONSTANT: { field: 'target', reason: 'has a blank, or is not followed by HTTP/1.1' },
  HPE_INVALID_VERSION: { field: 'version', reason: 'is not HTTP/1.0 or HTTP/1.1 and a line break' },
  HPE_INVALID_HEADER_TOKEN: {
    field: 'headers',
    reason: 'have a character that the name or value of a header cannot have',
  },
  HPE_INVALID_CONTENT_LENGTH: {
    field: 'content-length',
    reason: 'is not a number, or stands beside transfer-encoding',
  },
  HPE_UNEXPECTED_CONTENT_LENGTH: {
    field: 'content-length',
    reason: 'is there twice, or beside transfer-encoding',
  },
  HPE_INVALID_TRANSFER_ENCODING: { field: 'transfer-encoding', reason: 'is not chunked alone' },
  HPE_INVALID_CHUNK_SIZE: { field: 'body', reason: 'has a chunk whose size is not a hex number' },
  HPE_CHUNK_EXTENSIONS_OVERFLOW: {
    field: 'body',
    reason: 'has chunk extensions that are too long',
  },
  HPE_PAUSED_H2_UPGRADE: { field: 'version', reason: 'is HTTP/2: the host speaks HTTP/1.1' },
};

/** The client has closed its side of the connection. */
const END_OF_INPUT = 'HPE_INVALID_EOF_STATE';

const DETAILS: ReadonlyMap<number, string> = new Map([
  [408, 'the request did not arrive in time'],
  [431, 'the head of the request is too large'],
]);

/**
 * Called for a rejected request that is not handled.
 * @param request `null` if the head could not be parsed
 */
export type RejectionObserver = (
  problem: HostError,
  ids: RequestIds,
  request: IncomingMessage | null,
  socket: Duplex,
) => void;

/**
 * Sends a Problem for an error of the parser, after the responses to earlier requests, and closes
 * the connection.
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
  if (error.code === REQUEST_TIMEOUT && isStreaming(socket)) return;
  const status = STATUS_BY_CODE.get(error.code ?? '') ?? 400;
  const detail = DETAILS.get(status) ?? 'the request is not well-formed HTTP';
  const part = PARTS[error.code ?? ''];
  const problem = new HostError('validation_failed', detail, {
    ...{ status, step: 'parser', cause: error },
    errors: part === undefined ? [] : [part],
  });
  endPipeline(socket, (incomplete) => {
    const isGone = incomplete !== null && error.code === END_OF_INPUT;
    // After a partial response, the client would read the Problem as the rest of it.
    if (isGone || incomplete?.headersSent === true) socket.destroy();
    else endWith(socket, problem, incomplete?.req ?? null, onRejected);
  });
}

/** Node reports a request that exceeds its time only once, and then continues with it. */
function isStreaming(socket: Duplex): boolean {
  const current = findCurrent(socket);
  return current !== null && findInterruptible(current.req)?.isStreaming === true;
}

/** Rejects CONNECT: the host is not a tunnel. */
export function answerConnect(
  request: IncomingMessage,
  socket: Duplex,
  onRejected: RejectionObserver,
): void {
  // Node has removed its own listener.
  socket.on('error', () => socket.destroy());
  const detail = 'the method CONNECT is not implemented';
  const problem = new HostError('validation_failed', detail, { status: 501, step: 'parser' });
  endPipeline(socket, () => endWith(socket, problem, request, onRejected));
}

/**
 * Sends the Problem, and closes the connection.
 * @param request `null` if the head could not be parsed
 */
function endWith(
  socket: Duplex,
  problem: HostError,
  request: IncomingMessage | null,
  onRejected: RejectionObserver,
): void {
  const headers = request === null ? null : new CallerHeaders(request);
  const handled = request === null ? null : findInterruptible(request);
  const ids = handled ?? createIds(headers);
  // The path is uncertain, so it may be below `/modules/`.
  const reply = createProblemReply(problem, ids, {
    accept: headers?.get('accept'),
    headers: ['modgate-origin', 'host'],
  });
  closeLingering(socket, formatResponse(handled?.completeReply(reply) ?? reply, ids));
  if (handled === null) onRejected(problem, ids, request, socket);
  else handled.interrupt(problem);
}

function formatResponse(reply: Reply, ids: RequestIds): Buffer {
  const lines = [`HTTP/1.1 ${reply.status} ${STATUS_CODES[reply.status]}`];
  const headers = listHeaders(reply, ids, true);
  for (let index = 0; index < headers.length; index += 2)
    lines.push(`${headers[index]}: ${headers[index + 1]}`);
  return Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`), ...reply.pieces]);
}
