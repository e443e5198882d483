import {
  CALL_FILTERS,
  type CallFields,
  type CallRecord,
  type EntryFields,
  type Rejection,
  STREAM_MEMBERS,
  type StreamFields,
} from '../../contract/call-record.js';
import { createToken } from '../../injection.js';
import { compareTexts } from '../../lib/compare-texts.js';
import { createNulls } from '../../lib/fixed-shape.js';
import type { CallSelection } from '../../store/call-log.js';

export const CALL_RECORDS = createToken<CallRecords>('call-records');

/** A call as it is kept. It never has raw queries or headers, and bodies only if the descriptor enables it. */
export interface RecordedCall extends CallFields, StreamFields, EntryFields {
  /** `null` where the host did not reject the request. */
  readonly rejection: Rejection | null;
  /** The scopes of the actor, at most 100, for the decision of now. Never sent. */
  readonly scopes: readonly string[] | null;
  /** `null` unless the descriptor sets `records.capture_bytes`. */
  readonly captured: CapturedBodies | null;
}

export function compareNewestFirst({ at: one }: RecordedCall, { at: other }: RecordedCall): number {
  return compareTexts(other, one);
}

/** JSON text without secrets, cut if it was too long; `null` without a body. */
export interface CapturedBodies {
  readonly request: string | null;
  readonly response: string | null;
}

export interface CallQuery extends CallSelection {
  /** The `next` of the previous page. */
  readonly cursor: string | null;
}

export const ANY_CALL: Omit<CallQuery, 'limit'> = {
  ...createNulls(CALL_FILTERS),
  method: null,
  since: null,
  until: null,
  cursor: null,
};

export interface CallPage {
  /** Newest first. */
  readonly calls: readonly RecordedCall[];
  /** `null` if no older call matches the query. */
  readonly next: string | null;
  /** Set where the calls are those of all hosts of the store. */
  readonly areOfAllHosts?: true;
}

export interface CallRecords {
  /**
   * @returns `null` for an unknown cursor.
   * @throws StoreUnavailable for a cursor into a store that is not available.
   */
  list(query: CallQuery): CallPage | null | Promise<CallPage | null>;
}

type Writable<T> = { -readonly [Name in keyof T]: T[Name] };

const STREAM_NAMES = Object.keys(STREAM_MEMBERS) as (keyof StreamFields)[];

/** The call on the wire: with streamed bodies, surface, mount, host, cache, rejection and bodies only if it has them. */
export function toWireCall({
  surface,
  mount,
  host,
  cache,
  request_body,
  rejection,
  scopes,
  captured,
  ...recorded
}: RecordedCall): CallRecord {
  const call: Writable<CallRecord> = { ...recorded };
  const { bytes_in, bytes_out, stream_end } = recorded;
  if (bytes_in === null && bytes_out === null && stream_end === null) {
    for (const name of STREAM_NAMES) delete call[name];
  }
  return {
    ...call,
    ...(surface !== null && { surface }),
    ...(mount !== null && { mount }),
    ...(host !== null && { host }),
    ...(cache !== null && { cache }),
    ...(request_body !== null && { request_body }),
    ...rejection,
    ...(captured !== null && {
      request_body: request_body ?? captured.request,
      response_body: captured.response,
    }),
  };
}
