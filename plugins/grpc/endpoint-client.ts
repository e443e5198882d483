import {
  type Cancellation,
  isProviderFailure,
  type Outcome,
  type ProviderFailure,
} from '../../core/contract/index.js';
import type {
  CallLimits,
  CallTarget,
  EndpointPlace,
  EndpointRequest,
  SendRequest,
  EndpointClient as TransportClient,
} from '../shared/transport.js';
import { EndpointConnections } from './connections.js';
import { type GrpcCall, type GrpcRequest, startCall } from './grpc-call.js';

/** The status for credentials that the server rejects. */
const UNAUTHENTICATED = 16;

/** How long a stream may go on after the response. */
const END_GRACE_MS = 250;

interface CallOptions {
  /** `/package.Service/Method`. */
  readonly path: string;
  readonly metadata: Readonly<Record<string, string>>;
  /** The message, for each attempt; read once there is a connection. */
  readonly message: () => Uint8Array | Promise<Uint8Array>;
  readonly limits: CallLimits;
  /** The caller, for credentials on behalf of it. */
  readonly context?: EndpointRequest['context'];
}

/** One endpoint, to which calls are sent with the credentials of the config. */
export class EndpointClient implements TransportClient {
  readonly connections: EndpointConnections;
  readonly #url: string;
  readonly #send: SendRequest;

  constructor(place: EndpointPlace, send: SendRequest) {
    this.#url = place.origin;
    this.connections = new EndpointConnections(place);
    this.#send = send;
  }

  get isUnused(): boolean {
    return this.connections.isUnused;
  }

  retire(): void {
    this.connections.retire();
  }

  close(): void {
    this.connections.close();
  }

  /**
   * Calls a method, and again with another token if the outcome says that the first one was rejected.
   * @param read the outcome of the call
   */
  call(options: CallOptions, read: (call: GrpcCall) => Promise<Outcome>): Promise<Outcome> {
    const { path, metadata, message, limits, context } = options;
    const target: CallTarget = {
      url: this.#url,
      send: async ({ headers }, { signal, maxResponseBytes, counter }) => {
        const sent = {
          path,
          metadata: headers,
          sensitive: listAdded(headers, metadata),
          message,
          signal,
          maxResponseBytes,
          onReceived: (bytes: number) => counter?.countReceived?.(bytes),
        };
        return this.#attempt(sent, read, true);
      },
    };
    const request = { method: 'POST', target: path, headers: metadata, body: null } as const;
    return this.#send(target, context === undefined ? request : { ...request, context }, limits);
  }

  /** Sends a call, and once more when the server left it out as it closed the connection. */
  async #attempt(
    request: GrpcRequest,
    read: (call: GrpcCall) => Promise<Outcome>,
    mayRepeat: boolean,
  ): Promise<Outcome> {
    const call = await startCall(this.connections, request);
    try {
      return await read(call);
    } catch (error) {
      call.cancel();
      if (mayRepeat && call.isLeftOut) return this.#attempt(request, read, false);
      throw error;
    }
  }

  /**
   * Calls a method for the host itself, whose response has at most one message.
   * @returns `null` without a message
   * @throws ProviderFailure, also for a status other than OK, which `toFailure` converts
   */
  async ask(
    path: string,
    message: Uint8Array,
    { signal, maxBytes }: { readonly signal: Cancellation; readonly maxBytes: number },
    toFailure: (status: { readonly code: number }) => ProviderFailure,
  ): Promise<Buffer | null> {
    let response: Buffer | null = null;
    const limits = { signal, maxResponseBytes: maxBytes };
    const options = { path, metadata: {}, message: () => message, limits };
    let rejected: ProviderFailure | null = null;
    await this.call(options, async (call) => {
      response = await call.next();
      if (response !== null) await awaitEnd(call, signal);
      const { status } = call.end ?? {};
      rejected = status === undefined || status.code === 0 ? null : toFailure(status);
      const isRejected = status?.code === UNAUTHENTICATED;
      return { status: isRejected ? 401 : 200, headers: {}, body: null };
    });
    if (isProviderFailure(rejected)) throw rejected;
    return response;
  }
}

/**
 * Ends a call whose response has arrived. Servers end the stream with the request: resets would count against those that
 * allow few. One that does not end it has answered nevertheless.
 */
async function awaitEnd(call: GrpcCall, signal: Cancellation): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const isLate = new Promise<true>((resolve) => {
    timer = setTimeout(() => resolve(true), END_GRACE_MS);
  });
  try {
    const next = await Promise.race([call.next(), isLate]);
    if (next !== null) call.cancel();
  } catch (error) {
    if (!signal.aborted) throw error;
  } finally {
    clearTimeout(timer);
  }
}

const NONE: readonly string[] = [];

/** The names of the metadata that carry credentials. */
function listAdded(
  headers: Readonly<Record<string, string>>,
  metadata: Readonly<Record<string, string>>,
): readonly string[] {
  if (headers === metadata) return NONE;
  return Object.keys(headers).filter((name) => headers[name] !== metadata[name]);
}
