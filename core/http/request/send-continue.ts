import type { IncomingMessage, ServerResponse } from 'node:http';

/**
 * Lets a client that waits for it send its body. A client of HTTP/1.0 would read the interim
 * response as the response (RFC 9110, 10.1.1).
 */
export function sendContinue(
  { headers, httpVersion }: IncomingMessage,
  response: ServerResponse,
): void {
  if (headers.expect !== undefined && httpVersion !== '1.0') response.writeContinue();
}
