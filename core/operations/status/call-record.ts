import { createToken } from '../../injection.js';
import { compareTexts } from '../../lib/compare-texts.js';

export const CALL_RECORDS = createToken<CallRecords>('call-records');

/**
 * One completed request, in wire names. It never has raw targets or headers, and bodies only if the descriptor
 * enables it.
 */
export interface CallRecord {
  /** When it ended, as `Date.toISOString` writes it: the text sorts by time. */
  readonly at: string;
  readonly request_id: string;
  readonly correlation_id: string;
  readonly trace_id: string | null;
  readonly module: string | null;
  readonly method: string;
  /** The template; `null` if none matched. */
  readonly route: string | null;
  readonly status: number;
  readonly failure: string | null;
  /** What went wrong with the provider: `ECONNREFUSED 127.0.0.1:4100`. */
  readonly failure_detail: string | null;
  /** `service:crm-sync`; `null` without authentication. */
  readonly actor: string | null;
  readonly duration_ms: number;
  readonly provider_ms: number | null;
  readonly attempts: number;
  readonly endpoint: string | null;
  /** Through which surface it came; `null` over HTTP. */
  readonly surface: string | null;
  /** `null` unless the descriptor sets `records.capture_bytes`. */
  readonly captured: CapturedBodies | null;
}

export function compareNewestFirst({ at: one }: CallRecord, { at: other }: CallRecord): number {
  return compareTexts(other, one);
}

/** JSON text without secrets, cut if it was too long; `null` without a body. */
export interface CapturedBodies {
  readonly request: string | null;
  readonly response: string | null;
}

export interface CallQuery {
  readonly module: string | null;
  readonly status: number | null;
  /** Milliseconds since 1970; calls that ended then or later. */
  readonly since: number | null;
  /** Only calls with this request id. */
  readonly requestId: string | null;
  /** 1 to 1000. */
  readonly limit: number;
  /** The `next` of the previous page. */
  readonly cursor: string | null;
}

export const ANY_CALL: Omit<CallQuery, 'limit'> = {
  module: null,
  status: null,
  since: null,
  requestId: null,
  cursor: null,
};

export interface CallPage {
  /** Newest first. */
  readonly calls: readonly CallRecord[];
  /** `null` if no older call matches the query. */
  readonly next: string | null;
}

export interface CallRecords {
  /**
   * @returns `null` for an unknown cursor.
   * @throws StoreUnavailable for a cursor into a store that is not available.
   */
  list(query: CallQuery): CallPage | null | Promise<CallPage | null>;
}
