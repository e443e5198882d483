import type { Dispatcher } from 'undici';
import type { BodyStream, CallContext, Outcome } from '../../core/contract/index.js';
import type { UpstreamLimits } from './upstream-request.js';

/** A request without the prefix of an endpoint. */
export interface EndpointRequest {
  readonly method: Dispatcher.HttpMethod;
  /** Raw path and query. */
  readonly target: string;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array | BodyStream | null;
  /** The context of the call; absent for a request of the host itself. */
  readonly context?: CallContext;
  /** The protocol for which a connection is opened. Default: none. */
  readonly upgrade?: string | undefined;
}

/** An endpoint, of any protocol, to which requests with credentials are sent. */
export interface CallTarget {
  /** The base URL of its targets. */
  readonly url: string;
  /** Sends a request that has its credentials. Rejects with a ProviderFailure. */
  send(request: EndpointRequest, limits: UpstreamLimits): Promise<Outcome>;
}

/** Sends a request to an endpoint, with the credentials of the host. Rejects with a ProviderFailure. */
export type SendRequest = (
  target: CallTarget,
  request: EndpointRequest,
  limits: UpstreamLimits,
) => Promise<Outcome>;

/** Sends the requests of one module. */
export interface Sender {
  readonly send: SendRequest;
  /** The error of the last request for a token; `null` after a success. */
  readonly problem: () => string | null;
}

/** Sends a request without credentials. */
export const sendPlain: SendRequest = (target, request, limits) => target.send(request, limits);

/** Sends requests with an additional header. */
export function sendWithHeader(
  target: CallTarget,
  request: EndpointRequest,
  limits: UpstreamLimits,
  name: string,
  value: string,
): Promise<Outcome> {
  const headers = { ...request.headers, [name]: value };
  return target.send({ ...request, headers }, limits);
}
