import type { ServerResponse } from 'node:http';
import type { Reply } from '../../operations/reply.js';
import type { RequestIds } from '../request/ids.js';

const COMMON_HEADERS = ['x-content-type-options', 'nosniff', 'cache-control', 'no-store'];
/** Up to here copying the pieces of a body is cheaper than writing them one by one. Bytes. */
const JOINED_BYTES = 16_384;

/**
 * The headers of a response: names and values in turn.
 * @param isLast whether the connection is closed after the response
 */
export function listHeaders(
  { contentType, headers, length }: Reply,
  { requestId, correlationId }: RequestIds,
  isLast: boolean,
): string[] {
  const head = ['x-request-id', requestId, 'x-correlation-id', correlationId, ...COMMON_HEADERS];
  head.push('content-type', contentType, 'content-length', String(length), ...headers);
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
