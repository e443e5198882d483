import type { FailureCode, Outcome } from '../contract/index.js';
import type { CallTrace } from '../provider/provider-call.js';
import type { RequestSpan } from './request-span.js';

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
