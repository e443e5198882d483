import type { Actor, Cancellation } from '../contract/index.js';
import type { RequestTrace } from './request-trace.js';

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
