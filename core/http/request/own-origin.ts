import type { IncomingMessage } from 'node:http';
import { isIPv6 } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { isLoopbackAddress } from '../../lib/loopback.js';
import { isFromLoopback } from './loopback-rights.js';

/**
 * The origin under which the client reaches the host: of the public URL, otherwise of the host's own TLS or
 * loopback address. The `host` header never decides it, except which spelling of loopback it is.
 * @param publicOrigin `null` where none is configured
 * @returns `null` where it is unknown
 */
export function findOwnOrigin(req: IncomingMessage, publicOrigin: string | null): string | null {
  if (publicOrigin !== null) return publicOrigin;
  const { localAddress = '', localPort = 0 } = req.socket;
  const { encrypted, servername } = req.socket as Partial<TLSSocket> & { servername?: unknown };
  if (encrypted === true) {
    const name = typeof servername === 'string' && servername !== '' ? servername : localAddress;
    return createOrigin('https', isIPv6(name) ? `[${name}]` : name, localPort);
  }
  // A proxy on this machine passes on another name: browsers do not see a loopback address then.
  const { host } = req.headers;
  if (!isLoopbackAddress(localAddress) || !isFromLoopback(req)) return null;
  return createOrigin('http', host?.replace(/:\d*$/, '').toLowerCase() ?? 'localhost', localPort);
}

/** Whether a page of this origin made the request, as far as its browser says. */
export function isSameOrigin({ headers }: IncomingMessage, origin: string | null): boolean {
  if (headers['sec-fetch-site'] === 'same-origin') return true;
  return origin !== null && headers.origin === origin;
}

/** The default port is left out, as browsers write it. */
function createOrigin(scheme: string, name: string, port: number): string | null {
  const text = `${scheme}://${name}:${port}`;
  return URL.canParse(text) ? new URL(text).origin : null;
}
