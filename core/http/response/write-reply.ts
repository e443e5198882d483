import type { ServerResponse } from 'node:http';
import { BODILESS, type Reply } from '../../operations/reply.js';
import type { RequestIds } from '../request/ids.js';

const NO_STORE = 'no-store';
/** Up to here copying the pieces of a body is cheaper than writing them one by one. Bytes. */
const JOINED_BYTES = 16_384;

/**
 * The headers of a response: names and values in turn.
 * @param isLast whether the connection is closed after the response
 */
export function listHeaders(
  { status, contentType, cacheControl, headers, length }: Reply,
  { requestId, correlationId }: RequestIds,
  isLast: boolean,
): string[] {
  const head = ['x-request-id', requestId, 'x-correlation-id', correlationId];
  head.push('x-content-type-options', 'nosniff', 'cache-control', cacheControl ?? NO_STORE);
  if (contentType !== null) head.push('content-type', contentType);
  if (!BODILESS.has(status)) head.push('content-length', String(length));
  head.push(...headers);
  if (isLast && !headers.includes('connection')) head.push('connection', 'close');
  return head;
}

/** @param isLast whether the connection is closed after the response */
export function writeReply(
  response: ServerResponse,
  reply: Reply,
  ids: RequestIds,
  isLast: boolean,
): void {
  response.writeHead(reply.status, listHeaders(reply, ids, isLast));
  if (response.req.method === 'HEAD') response.end();
  else writeBody(response, reply);
}

function writeBody(response: ServerResponse, { pieces, length }: Reply): void {
  if (length <= JOINED_BYTES) {
    response.end(Buffer.concat(pieces, length));
    return;
  }
  for (const piece of pieces) response.write(piece);
  response.end();
}
