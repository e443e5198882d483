import type { Operation } from '../contract/index.js';
import type { AttemptResult } from '../provider/provider-call.js';
import type { RequestTrace } from './request-trace.js';

/** The span of one request, and those of the attempts below it. */
export interface RequestSpan {
  /** 32 hex digits: the caller's, where it sent a valid `traceparent`. */
  readonly traceId: string;
  /** Begins the span of an attempt; its id is the parent in the `traceparent` that is returned. */
  beginAttempt(operation: Operation): string;
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
