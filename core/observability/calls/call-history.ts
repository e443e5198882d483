import {
  type CallPage,
  type CallQuery,
  type CallRecords,
  compareNewestFirst,
  type RecordedCall,
} from '../../operations/status/call-record.js';
import { StoreUnavailable } from '../../store/store-unavailable.js';
import { nameCall } from '../completed-request.js';
import type { RecentCalls } from './recent-calls.js';
import type { StoredCalls } from './stored-calls.js';

/** Cursors of calls in memory contain it, cursors of stored calls do not. */
const RECENT_CURSOR_PREFIX = '-';

/**
 * Stored calls, or those in memory while the store is unavailable. Captured bodies are in memory only: they
 * are added to stored calls that are still there.
 */
export class CallHistory implements CallRecords {
  readonly #recent: CallRecords;
  readonly #stored: StoredCalls;
  readonly #own: RecentCalls;

  /**
   * @param recent calls in memory, of all processes of the host
   * @param ownCalls those of this process: bodies are read from it only
   */
  constructor(recent: CallRecords, stored: StoredCalls, ownCalls: RecentCalls) {
    this.#recent = recent;
    this.#stored = stored;
    this.#own = ownCalls;
  }

  async list(query: CallQuery): Promise<CallPage | null> {
    if (query.cursor?.includes(RECENT_CURSOR_PREFIX)) return this.#recent.list(query);
    return query.request_id === null ? this.#listStored(query) : this.#findRequest(query);
  }

  async #listStored(query: CallQuery): Promise<CallPage | null> {
    try {
      const page = await this.#stored.list(query);
      const addBodies = (call: RecordedCall) => ({ ...call, captured: this.#own.findBodies(call) });
      return page && { ...page, calls: page.calls.map(addBodies), areOfAllHosts: true };
    } catch (error) {
      // A page from memory cannot continue one of the store.
      if (!(error instanceof StoreUnavailable) || query.cursor !== null) throw error;
      return this.#recent.list(query);
    }
  }

  /** Another process may not have stored its last calls yet: they are read from memory as well. */
  async #findRequest(query: CallQuery): Promise<CallPage | null> {
    const stored = await this.#listStored(query);
    const recent = query.cursor === null ? await this.#recent.list(query) : null;
    if (stored === null) return null;
    const calls = new Map((recent?.calls ?? []).map((call) => [nameCall(call), call]));
    for (const call of stored.calls) calls.set(nameCall(call), call);
    const newest = [...calls.values()].sort(compareNewestFirst);
    return { ...stored, calls: newest.slice(0, query.limit) };
  }
}
