import type {
  Actor,
  Cancellation,
  FailureCode,
  Outcome,
  ProviderOperation,
} from '../contract/index.js';
import type { AttemptResult, CallTrace } from '../provider/provider-call.js';

/** The caller has hung up: there is nobody to answer, and nothing is to be written. */
export class ClientClosed extends Error {
  override readonly name = 'CallerGone';

  constructor() {
    super('the caller has gone');
  }
}

/** What an operation sees of a request: no Koa, no socket. */
export interface CallerRequest {
  /** As on the request line: `HEAD` stays `HEAD`. */
  readonly method: string;
  readonly actor: Actor;
  readonly requestId: string;
  readonly correlationId: string;
  readonly headers: {
    get(name: string): string | undefined;
    count(name: string): number;
  };
  /** Reads at most `limit` bytes; a HostError 400 when there are more. */
  readBody(limit: number): Promise<Buffer>;
  /** Aborted when the caller hangs up. */
  readonly signal: Cancellation;
  /** What the log line and the records are to say; the operation fills it as it learns. */
  readonly trace: RequestTrace;
}

/** Facts about one request, gathered on its way for the log line, the metrics and the call records. */
export interface RequestTrace extends CallTrace {
  /** Whether it came by a forwarded route: only such requests are counted and recorded. */
  isForwarded: boolean;
  module: string | null;
  /** The template; `null` where none matched. */
  route: string | null;
  traceId: string | null;
  bytesIn: number;
  /** Of all attempts together, without the pauses between them; `null` when there was none. */
  providerMs: number | null;
  failure: FailureCode | 'status' | null;
  /** `null` where traces are off. */
  span: RequestSpan | null;
  /** Kept for the call record where the descriptor asks for it; else `null`. */
  bodies: CallBodies | null;
}

/** The bodies of a call as they were, before anything is redacted. */
export interface CallBodies {
  /** How much of each may be kept. */
  readonly captureBytes: number;
  readonly request: Uint8Array | null;
  response: Outcome['body'];
}

export function createRequestTrace(): RequestTrace {
  return {
    isForwarded: false,
    module: null,
    route: null,
    traceId: null,
    bytesIn: 0,
    providerMs: null,
    attempts: 0,
    endpoint: null,
    failure: null,
    span: null,
    bodies: null,
  };
}

/** The span of one request, and those of the attempts below it. */
export interface RequestSpan {
  /** 32 hex digits: the caller's, where it sent a valid `traceparent`. */
  readonly traceId: string;
  /** Begins the span of an attempt; its id is the parent in the `traceparent` that is returned. */
  beginAttempt(operation: ProviderOperation): string;
  /** Ends the span of the attempt that has begun last. */
  endAttempt(result: AttemptResult): void;
  end(status: number): void;
}

/** Makes spans of requests. Where traces are off there is none, and nothing is paid for it. */
export interface RequestTracing {
  begin(request: TracedRequest): RequestSpan;
}

export interface TracedRequest {
  readonly method: string;
  /** How the caller reached the host. */
  readonly scheme: 'http' | 'https';
  /** The template of a route of the host's own, such as the bridge; `null` for a module's. */
  readonly hostRoute: string | null;
  readonly headers: { get(name: string): string | undefined };
  readonly requestId: string;
  /** Read when spans end: by then it is known what the request was. */
  readonly trace: RequestTrace;
}
