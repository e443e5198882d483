import type { Actor } from '../contract/index.js';
import type { RequestTrace } from '../operations/request-trace.js';

/** A request that has been decided: what the log line, the metrics and the call records get of it. */
export interface EndedRequest {
  readonly requestId: string;
  readonly correlationId: string;
  /** `null` where none was established. */
  readonly actor: Actor | null;
  readonly trace: RequestTrace;
  /** As on the request line. */
  readonly method: string;
  /** 499 when the caller had gone before there was an answer. */
  readonly status: number;
  /** Of the body. */
  readonly bytesOut: number;
  readonly durationMs: number;
}

/** Told once of each request, before the last byte of its answer leaves. */
export type RequestObserver = (ended: EndedRequest) => void;
