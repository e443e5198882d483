import type {
  CallPage,
  CallQuery,
  CallRecord,
  CallRecords,
  CapturedBodies,
} from '../../operations/status/call-record.js';
import { StoreUnavailable } from '../../store/store.js';
import type { RecentCallBuffer } from './recent-calls.js';
import type { StoredCalls } from './stored-calls.js';

/** More than the ring holds. */
const ALL = Number.MAX_SAFE_INTEGER;
/** What the cursors of the ring have, and those of the archive have not. */
const RECENT_CURSOR_PREFIX = '-';

/**
 * The calls of the store, and those in memory while the store does not answer. Captured bodies
 * are in memory only: they are added to what is still in the ring.
 */
export class CallHistory implements CallRecords {
  readonly #recent: CallRecords;
  readonly #archive: StoredCalls;
  readonly #ring: RecentCallBuffer;

  /**
   * @param recent what is in memory, of all processes of the host
   * @param ring that of this process: bodies are taken from it alone
   */
  constructor(recent: CallRecords, archive: StoredCalls, ring: RecentCallBuffer) {
    this.#recent = recent;
    this.#archive = archive;
    this.#ring = ring;
  }

  async list(query: CallQuery): Promise<CallPage | null> {
    if (query.cursor?.includes(RECENT_CURSOR_PREFIX)) return this.#recent.list(query);
    try {
      const page = await this.#archive.list(query);
      return page && { ...page, calls: this.#addBodies(page.calls) };
    } catch (error) {
      // A page of the ring does not follow one of the store.
      if (!(error instanceof StoreUnavailable) || query.cursor !== null) throw error;
      return this.#recent.list(query);
    }
  }

  #addBodies(calls: readonly CallRecord[]): readonly CallRecord[] {
    const all = { module: null, status: null, since: null, limit: ALL, cursor: null };
    const captured = new Map<string, CapturedBodies>();
    for (const call of this.#ring.list(all)?.calls ?? []) {
      if (call.captured !== null) captured.set(nameCall(call), call.captured);
    }
    if (captured.size === 0) return calls;
    return calls.map((call) => ({ ...call, captured: captured.get(nameCall(call)) ?? null }));
  }
}

/** Both were made of one request, at two looks on the clock. */
function nameCall({ requestId, traceId, durationMs }: CallRecord): string {
  return `${requestId} ${traceId} ${durationMs}`;
}
