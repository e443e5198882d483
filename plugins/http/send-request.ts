import type { Dispatcher } from 'undici';
import type { BodyStream, CallContext, Outcome } from '../../core/contract/index.js';
import type { Replica } from './replica.js';
import { sendUpstream, type UpstreamLimits } from './upstream-request.js';

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

/** Sends a request to an endpoint, with the credentials of the host. Rejects with a ProviderFailure. */
export type SendRequest = (
  replica: Replica,
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
export const sendPlain: SendRequest = (replica, request, limits) => {
  const { method, target, headers, body, upgrade } = request;
  return sendUpstream(
    replica.pool,
    { method, path: replica.prefix + target, headers, body, upgrade },
    limits,
  );
};

/** Sends requests with an additional header. */
export function sendWithHeader(
  replica: Replica,
  { method, target, headers, body, upgrade }: EndpointRequest,
  limits: UpstreamLimits,
  name: string,
  value: string,
): Promise<Outcome> {
  const path = replica.prefix + target;
  const request = { method, path, headers: { ...headers, [name]: value }, body, upgrade };
  return sendUpstream(replica.pool, request, limits);
}
