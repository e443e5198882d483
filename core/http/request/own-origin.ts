import type { IncomingMessage } from 'node:http';
import { isIPv6 } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { isLoopbackAddress } from '../../contract/loopback.js';
import { isFromLoopback } from './loopback-rights.js';

/**
 * The origin of the host for the client: that of the public URL, otherwise that of the host's own
 * TLS or loopback address. The `host` header only selects the spelling of loopback.
 * @param publicOrigin `null` without one
 * @returns `null` if it is unknown
 */
export function findOwnOrigin(req: IncomingMessage, publicOrigin: string | null): string | null {
  if (publicOrigin !== null) return publicOrigin;
  const { localAddress = '', localPort = 0 } = req.socket;
  const { encrypted, servername } = req.socket as Partial<TLSSocket> & { servername?: unknown };
  if (encrypted === true) {
    const name = typeof servername === 'string' && servername !== '' ? servername : localAddress;
    return createOrigin('https', isIPv6(name) ? `[${name}]` : name, localPort);
  }
  // With another name, a proxy on this machine forwards the request, so that browsers see no
  // loopback address.
  const { host } = req.headers;
  if (!isLoopbackAddress(localAddress) || !isFromLoopback(req)) return null;
  return createOrigin('http', host?.replace(/:\d*$/, '').toLowerCase() ?? 'localhost', localPort);
}

/** Whether a page of this origin sent the request, according to its browser. */
export function isSameOrigin({ headers }: IncomingMessage, origin: string | null): boolean {
  if (headers['sec-fetch-site'] === 'same-origin') return true;
  return origin !== null && headers.origin === origin;
}

/** Omits the default port, like browsers. */
function createOrigin(scheme: string, name: string, port: number): string | null {
  const text = `${scheme}://${name}:${port}`;
  return URL.canParse(text) ? new URL(text).origin : null;
}
