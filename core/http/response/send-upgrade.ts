import type { ServerResponse } from 'node:http';
import type { Reply, ReplyUpgrade } from '../../operations/reply.js';
import type { RequestIds } from '../request/caller-headers.js';
import { releaseConnection } from '../server/upgrades.js';

interface UpgradedRequest extends RequestIds {
  readonly res: ServerResponse;
}

/**
 * Sends the head of a 101, and transfers the connection.
 * @returns the number of later bytes, when the connection has ended
 */
export function sendUpgrade(
  { status, headers }: Reply,
  upgrade: ReplyUpgrade,
  { res, requestId, correlationId }: UpgradedRequest,
): Promise<number> {
  res.writeHead(status, [
    ...['x-request-id', requestId, 'x-correlation-id', correlationId],
    ...headers,
  ]);
  res.end();
  return upgrade.connect(releaseConnection(res.req));
}
