import { type CallEntry, callList } from '../client/call-list.js';
import type { HostClient } from '../client/host-client.js';
import { requestJson } from '../client/host-response.js';

/** The maximum of `GET /calls`. */
const PAGE_LIMIT = '1000';

/**
 * Follows the calls of a host. Each poll returns the calls since the last one, oldest first. The first
 * poll starts at `since`.
 */
export class NewCalls {
  readonly #client: HostClient;
  readonly #filters: Readonly<Record<string, string>>;
  #since: string;
  /** The calls of the last millisecond, which the next poll returns again. */
  #last: readonly string[] = [];

  constructor(client: HostClient, filters: Readonly<Record<string, string>>, since: string) {
    this.#client = client;
    this.#filters = filters;
    this.#since = since;
  }

  /** @throws CommandError when the host is unreachable or rejects the request. */
  async poll(): Promise<CallEntry[]> {
    const calls = await this.#readAll();
    const unseen = omitKnown(calls, this.#last);
    const last = calls.at(-1)?.at;
    if (last !== undefined) {
      this.#since = last;
      this.#last = calls.filter(({ at }) => at === last).map((call) => JSON.stringify(call));
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

/** Omits each known call once: identical entries are different calls with the same request id. */
function omitKnown(calls: readonly CallEntry[], known: readonly string[]): CallEntry[] {
  const left = [...known];
  return calls.filter((call) => {
    const index = left.indexOf(JSON.stringify(call));
    if (index === -1) return true;
    left.splice(index, 1);
    return false;
  });
}
