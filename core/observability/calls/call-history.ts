import {
  ANY_CALL,
  type CallPage,
  type CallQuery,
  type CallRecord,
  type CallRecords,
  type CapturedBodies,
  compareNewestFirst,
} from '../../operations/status/call-record.js';
import { StoreUnavailable } from '../../store/store.js';
import type { RecentCallBuffer } from './recent-calls.js';
import type { StoredCalls } from './stored-calls.js';

/** More calls than the buffer can hold. */
const ALL = Number.MAX_SAFE_INTEGER;
/** Cursors of calls in memory contain it, cursors of stored calls do not. */
const RECENT_CURSOR_PREFIX = '-';

/**
 * Stored calls, or those in memory while the store is unavailable. Captured bodies are in memory only: they
 * are added to stored calls that are still in the buffer.
 */
export class CallHistory implements CallRecords {
  readonly #recent: CallRecords;
  readonly #stored: StoredCalls;
  readonly #buffer: RecentCallBuffer;

  /**
   * @param recent calls in memory, of all processes of the host
   * @param buffer of this process: bodies are read from it only
   */
  constructor(recent: CallRecords, stored: StoredCalls, buffer: RecentCallBuffer) {
    this.#recent = recent;
    this.#stored = stored;
    this.#buffer = buffer;
  }

  async list(query: CallQuery): Promise<CallPage | null> {
    if (query.cursor?.includes(RECENT_CURSOR_PREFIX)) return this.#recent.list(query);
    return query.requestId === null ? this.#listStored(query) : this.#findRequest(query);
  }

  async #listStored(query: CallQuery): Promise<CallPage | null> {
    try {
      const page = await this.#stored.list(query);
      return page && { ...page, calls: this.#addBodies(page.calls) };
    } catch (error) {
      // A page from memory cannot continue one of the store.
      if (!(error instanceof StoreUnavailable) || query.cursor !== null) throw error;
      return this.#recent.list(query);
    }
  }

  /** Another process may not have stored its last calls yet: they are read from memory as well. */
  async #findRequest(query: CallQuery): Promise<CallPage | null> {
    const stored = await this.#listStored(query);
    const recent = await this.#recent.list(query);
    if (stored === null || recent === null) return null;
    const found = new Map(recent.calls.map((call) => [nameCall(call), call]));
    for (const call of stored.calls) found.set(nameCall(call), call);
    const calls = [...found.values()].sort(compareNewestFirst);
    return { calls: calls.slice(0, query.limit), next: stored.next };
  }

  #addBodies(calls: readonly CallRecord[]): readonly CallRecord[] {
    const all = { ...ANY_CALL, limit: ALL };
    const captured = new Map<string, CapturedBodies>();
    for (const call of this.#buffer.list(all)?.calls ?? []) {
      if (call.captured !== null) captured.set(nameCall(call), call.captured);
    }
    if (captured.size === 0) return calls;
    return calls.map((call) => ({ ...call, captured: captured.get(nameCall(call)) ?? null }));
  }
}

/** Identifies a call in both: clients may use a request id again. */
function nameCall({ at, request_id, duration_ms }: CallRecord): string {
  return `${at} ${request_id} ${duration_ms}`;
}
