import http, { type RequestListener } from 'node:http';
import type { Duplex } from 'node:stream';
import { answerParserError, type RejectionObserver } from './parser-errors.js';
import { serializeRequests } from './pipelining.js';

/** The number of requests of a connection. */
const MAX_REQUESTS = 1;

/**
 * Creates a server that does not listen: it handles connections in memory like the listener.
 * @param maxHeadBytes the maximum for the head of a request
 */
export function createInProcessServer(
  listener: RequestListener,
  maxHeadBytes: number,
  onRejected: RejectionObserver,
): { accept(connection: Duplex): void } {
  const server = http.createServer({ maxHeaderSize: maxHeadBytes, requireHostHeader: false });
  server.maxHeadersCount = 0;
  const serialized = serializeRequests(listener, MAX_REQUESTS);
  for (const event of ['request', 'checkContinue', 'checkExpectation']) {
    server.on(event, serialized);
  }
  server.on('clientError', (error, socket) => answerParserError(error, socket, onRejected));
  return { accept: (connection) => void server.emit('connection', connection) };
}
