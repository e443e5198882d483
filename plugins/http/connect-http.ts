import type { CallTarget } from '../shared/transport/send-request.js';
import type { EndpointClient, EndpointPlace } from '../shared/transport/transport.js';
import { Replica } from './replica.js';

/** Offered in the handshake, which a server may require (RFC 7301). */
const ALPN = ['http/1.1'];

/** The connections to one endpoint that speaks HTTP/1.1. */
export interface HttpClient extends CallTarget, EndpointClient {
  /**
   * Connects, with the handshake of TLS, and closes.
   * @throws ProviderFailure in phase `connecting`; at once after the abort of the signal.
   */
  probe(signal: AbortSignal): Promise<void>;
}

/**
 * Opens HTTP/1.1 connections to an endpoint when they are needed, at most one for each call, and
 * keeps them for 4 s. Its `send` sends a request once, with the prefix of the place; redirects are
 * responses like any other.
 */
export function connectHttp({ id, origin, prefix, host, port, tls }: EndpointPlace): HttpClient {
  const address =
    tls === null
      ? ({ kind: 'tcp', host, port } as const)
      : ({ kind: 'tls', host, port, options: { ALPNProtocols: ALPN, ...tls } } as const);
  return new Replica({ id, origin, prefix, address });
}
