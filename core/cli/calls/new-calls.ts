import { type CallEntry, callList } from '../client/call-list.js';
import type { HostClient } from '../client/host-client.js';
import { requestJson } from '../client/host-response.js';

/** The most that a page may hold (contract 9). */
const PAGE_LIMIT = '1000';

/**
 * Follows the calls of a host. Each look answers what has ended since the one before, oldest first; the
 * first one answers nothing older than `since`.
 */
export class NewCalls {
  readonly #client: HostClient;
  readonly #filters: Readonly<Record<string, string>>;
  #since: string;
  /** Calls of the last millisecond that were seen: the next look meets them again. */
  #seen: readonly string[] = [];

  constructor(client: HostClient, filters: Readonly<Record<string, string>>, since: string) {
    this.#client = client;
    this.#filters = filters;
    this.#since = since;
  }

  /** @throws CommandFailure when the host refuses, or cannot be reached. */
  async poll(): Promise<CallEntry[]> {
    const calls = await this.#readAll();
    const unseen = withoutSeen(calls, this.#seen);
    const last = calls.at(-1)?.at;
    if (last !== undefined) {
      this.#since = last;
      this.#seen = calls.filter(({ at }) => at === last).map((call) => JSON.stringify(call));
    }
    return unseen;
  }

  async #readAll(): Promise<CallEntry[]> {
    const newestFirst: CallEntry[] = [];
    const query = new URLSearchParams({
      ...this.#filters,
      since: this.#since,
      limit: PAGE_LIMIT,
    });
    for (;;) {
      const { calls, next_cursor } = await requestJson(this.#client, `/calls?${query}`, callList);
      newestFirst.push(...calls);
      if (next_cursor === null) return newestFirst.reverse();
      query.set('cursor', next_cursor);
    }
  }
}

/** One of each that was seen: a caller may choose one request id for two calls. */
function withoutSeen(calls: readonly CallEntry[], seen: readonly string[]): CallEntry[] {
  const left = [...seen];
  return calls.filter((call) => {
    const index = left.indexOf(JSON.stringify(call));
    if (index === -1) return true;
    left.splice(index, 1);
    return false;
  });
}
