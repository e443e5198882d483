import type { Actor } from '../contract/index.js';
import { nameActor } from '../lib/actor-name.js';
import type { RequestTrace } from '../operations/request.js';

/** A request that has been decided: what the log line, the metrics and the call records get of it. */
export interface CompletedRequest {
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
export type RequestObserver = (ended: CompletedRequest) => void;

/** `service:crm-sync`; `null` where none was established. */
export function describeActor(actor: Actor | null): string | null {
  return actor === null ? null : nameActor(actor);
}

/** Microseconds are as fine as the clock is true. */
export function roundMs(ms: number): number {
  return Math.round(ms * 1000) / 1000;
}

/** The same of what may never have been: `null` stays so. */
export function roundMsOrNull(ms: number | null): number | null {
  return ms === null ? null : roundMs(ms);
}
