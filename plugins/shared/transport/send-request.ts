import type {
  BodyStream,
  CallContext,
  Cancellation,
  HttpRouteOperation,
  Invocation,
  Outcome,
} from '../../../core/contract/index.js';

/** A request without the prefix of an endpoint. */
export interface EndpointRequest {
  /** As of HTTP; a protocol without methods sends `POST`. */
  readonly method: HttpRouteOperation['method'];
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

/** The bounds of one call. */
export interface CallLimits {
  /** The maximum body; a longer one is a `protocol` failure. Bytes. */
  readonly maxResponseBytes: number;
  /** A longer body is streamed. Default: no body is. Bytes. */
  readonly holdBytes?: number | undefined;
  /** Ends the call. */
  readonly signal: Cancellation;
  /** Counts the body during its arrival, and says whether it is needed. */
  readonly counter?: Pick<Invocation, 'countReceived' | 'needsBody'>;
}

/** An endpoint, of any protocol, to which requests with credentials are sent. */
export interface CallTarget {
  /** The base URL of its targets, http or https; signers sign it. */
  readonly url: string;
  /** Sends a request that has its credentials. Rejects with a ProviderFailure. */
  send(request: EndpointRequest, limits: CallLimits): Promise<Outcome>;
}

/**
 * Adds the credentials of the config to the headers of a request, and passes it to `target.send`. A
 * target whose outcome has the status 401 is called once more with a new token, if the credentials
 * have tokens and the body is no stream.
 * @throws ProviderFailure in phase `preparing` without credentials; what the target throws.
 */
export type SendRequest = (
  target: CallTarget,
  request: EndpointRequest,
  limits: CallLimits,
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
  limits: CallLimits,
  name: string,
  value: string,
): Promise<Outcome> {
  const headers = { ...request.headers, [name]: value };
  return target.send({ ...request, headers }, limits);
}
