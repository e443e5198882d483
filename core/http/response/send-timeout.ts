import type { ServerResponse } from 'node:http';

/**
 * Ends the connection of a caller who takes nothing of an answer for `timeoutMs`: what is not taken is held in
 * memory. Only for an answer that was just written, and did not fit into what the system holds for the connection.
 */
export function setSendTimeout(response: ServerResponse, timeoutMs: number): void {
  const { socket } = response;
  if (socket === null || response.writableLength === 0) return;
  // As long as bytes leave, the socket does not time out; where it does, Node ends what nobody listens for.
  socket.setTimeout(timeoutMs);
  // Before Node sets the time for which the connection may be idle, in the same event.
  response.prependOnceListener('finish', () => socket.setTimeout(0));
}
