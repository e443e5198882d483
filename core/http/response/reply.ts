import type { ServerResponse } from 'node:http';
import type { Answer } from '../../operations/handler.js';
import type { RequestIds } from '../request/ids.js';

/** What a caller gets: left in the exchange by whoever decides, written when the request has been counted. */
export interface Reply {
  readonly status: number;
  readonly contentType: string;
  /** Beyond those of every reply: names and values in turn. */
  readonly headers: readonly string[];
  readonly body: Pick<Answer, 'pieces' | 'length'>;
}

export const JSON_TYPE = 'application/json';

const NONE: readonly string[] = [];
const COMMON_HEADERS = ['x-content-type-options', 'nosniff', 'cache-control', 'no-store'];
/** Up to here to copy the pieces of a body costs less than to write them one by one. Bytes. */
const JOINED_BYTES = 16_384;

/** A 200 with what an operation answered. */
export function createReply(answer: Answer, contentType = JSON_TYPE, headers = NONE): Reply {
  return { status: 200, contentType, headers, body: answer };
}

/** The head of a reply: names and values in turn. `isLast`: the connection ends behind it. */
export function listHeaders(
  { contentType, headers, body }: Reply,
  { requestId, correlationId }: RequestIds,
  isLast: boolean,
): string[] {
  const head = ['x-request-id', requestId, 'x-correlation-id', correlationId, ...COMMON_HEADERS];
  head.push('content-type', contentType, 'content-length', String(body.length), ...headers);
  if (isLast && !headers.includes('connection')) head.push('connection', 'close');
  return head;
}

/**
 * Writes all of it, the head in one piece: to set one header after the other costs 5 µs more.
 * @param isLast whether the connection ends behind it
 */
export function writeReply(
  response: ServerResponse,
  reply: Reply,
  ids: RequestIds,
  isLast: boolean,
): void {
  response.writeHead(reply.status, listHeaders(reply, ids, isLast));
  if (response.req.method === 'HEAD') response.end();
  else writeBody(response, reply.body);
}

function writeBody(response: ServerResponse, { pieces, length }: Reply['body']): void {
  if (length <= JOINED_BYTES) {
    response.end(Buffer.concat(pieces, length));
    return;
  }
  for (const piece of pieces) response.write(piece);
  response.end();
}
