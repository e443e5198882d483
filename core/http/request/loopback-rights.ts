import type { IncomingMessage } from 'node:http';
import { isLoopbackHostHeader, isProxyHeader } from '../../lib/loopback.js';

/**
 * Whether a client on this machine may have sent the request: it names a loopback host, and has no
 * header of a proxy. A proxy on this machine may send any `host`.
 */
export function isFromLoopback({ headers, rawHeaders }: IncomingMessage): boolean {
  if (!isLoopbackHostHeader(headers.host)) return false;
  return !rawHeaders.some((name, index) => index % 2 === 0 && isProxyHeader(name));
}
