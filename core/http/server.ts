import http, { type RequestListener, type Server } from 'node:http';
import { answerConnect, answerParserError, trackAnswer } from './parser-problem.js';

const HEAD_TIMEOUT_MS = 10_000;
const REQUEST_TIMEOUT_MS = 60_000;
// How late a time-out may be noticed; Node's default of 30 s would make the 10 s above mean 40.
const TIMEOUT_CHECK_INTERVAL_MS = 1000;
const IDLE_TIMEOUT_MS = 65_000;
const MAX_HEAD_BYTES = 16 * 1024;

/** A server that answers nothing by itself: what Node would refuse is answered with a Problem. */
export function createServer(listener: RequestListener): Server {
  const server = http.createServer(
    {
      headersTimeout: HEAD_TIMEOUT_MS,
      requestTimeout: REQUEST_TIMEOUT_MS,
      connectionsCheckingInterval: TIMEOUT_CHECK_INTERVAL_MS,
      keepAliveTimeout: IDLE_TIMEOUT_MS,
      maxHeaderSize: MAX_HEAD_BYTES,
      // Node would answer a request without host with an empty 400.
      requireHostHeader: false,
      insecureHTTPParser: false,
      noDelay: true,
    },
    listener,
  );
  // Above a count Node drops headers silently, which would slip past every rule on headers; the size of
  // the head bounds them instead.
  server.maxHeadersCount = 0;
  server.prependListener('request', trackAnswer);
  server.on('checkContinue', listener);
  server.on('checkExpectation', listener);
  server.on('clientError', answerParserError);
  server.on('connect', answerConnect);
  return server;
}
