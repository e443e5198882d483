import { createToken } from '../../injection.js';

export const CALL_RECORDS = createToken<CallRecords>('call-records');

/** One forwarded request that has ended. Never a raw target, a header or, unless ops ask for it, a body. */
export interface CallRecord {
  /** When it ended, in milliseconds since 1970. */
  readonly at: number;
  readonly requestId: string;
  readonly correlationId: string;
  readonly method: string;
  readonly status: number;
  /** `service:crm-sync`; `null` where none was established. */
  readonly actor: string | null;
  readonly durationMs: number;
  readonly traceId: string | null;
  readonly module: string | null;
  /** The template; `null` where none matched. */
  readonly route: string | null;
  readonly failure: string | null;
  readonly providerMs: number | null;
  readonly attempts: number;
  readonly endpoint: string | null;
  /** What was captured of the bodies; `null` where the descriptor does not ask for it. */
  readonly captured: CapturedBodies | null;
}

/** JSON text without secrets, cut where it was too long; `null` where there was none. */
export interface CapturedBodies {
  readonly request: string | null;
  readonly response: string | null;
}

export interface CallQuery {
  readonly module: string | null;
  readonly status: number | null;
  /** Milliseconds since 1970; calls that ended then or later. */
  readonly since: number | null;
  /** 1 to 1000. */
  readonly limit: number;
  /** As `next` of the page before. */
  readonly cursor: string | null;
}

export interface CallPage {
  /** Newest first. */
  readonly calls: readonly CallRecord[];
  /** `null` where no older call fits the query. */
  readonly next: string | null;
}

/** Where operations read what was called. */
export interface CallRecords {
  /**
   * @returns `null` for a cursor that this host has not made.
   * @throws StoreUnavailable for a cursor into a store that does not answer.
   */
  list(query: CallQuery): CallPage | null | Promise<CallPage | null>;
}
