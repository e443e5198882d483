import type { Rejection } from '../contract/call-record.js';
import type { Actor } from '../contract/index.js';
import type { RequestFacts } from '../operations/request.js';

/** The data of a request for the log line, the metrics and the call records. */
export interface CompletedRequest {
  readonly requestId: string;
  readonly correlationId: string;
  /** `service:crm-sync`; `null` for an unauthenticated request. */
  readonly actor: string | null;
  /** `null` for an unauthenticated request. */
  readonly actorKind: Actor['kind'] | null;
  /** The address of the client; `null` if it is unknown. */
  readonly client: string | null;
  /** The scopes of the actor. */
  readonly scopes: ReadonlySet<string> | null;
  /** `null` if the host did not reject it. */
  readonly rejection: Rejection | null;
  readonly facts: RequestFacts;
  /** Set if the parser rejected it before it was handled. */
  readonly isMalformed?: true;
  /** The method as on the request line. */
  readonly method: string;
  /** 499 when the client closed the connection before the response. */
  readonly status: number;
  /** The length of the sent body. */
  readonly bytesOut: number;
  readonly durationMs: number;
  /**
   * The duration until the head of a stream of events was sent; absent or `null` for any other
   * response.
   */
  readonly headMs?: number | null;
  /** Milliseconds since 1970. */
  readonly completedAt: number;
}

/** Called once per request, before its response is complete. */
export type RequestObserver = (completed: CompletedRequest) => void;

/** Rounds to microseconds, the resolution of the clock. */
export function roundMs(ms: number): number {
  return Math.round(ms * 1000) / 1000;
}

export function roundMsOrNull(ms: number | null): number | null {
  return ms === null ? null : roundMs(ms);
}
