import type { Struct } from 'superstruct';
import type { HostClient } from './host-client.js';
import { requestJson } from './host-response.js';

/** The maximum of `GET /calls`. */
export const PAGE_LIMIT = 1000;

interface CallPage {
  readonly calls: readonly unknown[];
  readonly next_cursor?: string | null | undefined;
}

/** The pages of `GET /calls`, newest first. */
export async function* readCallPages<Page extends CallPage, S>(
  client: HostClient,
  filters: Readonly<Record<string, string>>,
  struct: Struct<Page, S>,
): AsyncGenerator<Page['calls']> {
  const query = new URLSearchParams({ ...filters, limit: String(PAGE_LIMIT) });
  for (;;) {
    const { calls, next_cursor } = await requestJson(client, `/calls?${query}`, struct);
    yield calls;
    if (next_cursor == null) return;
    query.set('cursor', next_cursor);
  }
}
