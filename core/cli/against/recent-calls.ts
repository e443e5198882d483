import { array, nullable, optional, string, type } from 'superstruct';
import type { HostClient } from '../client/host-client.js';
import { RejectedRequest, requestJson } from '../client/host-response.js';

const CALLS_WINDOW_MS = 3_600_000;
/** The maximum of `GET /calls`. */
const PAGE_LIMIT = 1000;
/** A hundred thousand calls are enough to show that a route is in use. */
const MAX_PAGES = 100;

const NOT_FOUND = 404;
const FORBIDDEN = 403;

const callsPage = type({
  calls: array(type({ method: string(), route: nullable(string()) })),
  next_cursor: optional(nullable(string())),
});

/** The number of recent calls of each route of a module. */
interface RecentCalls {
  /** By `GET /contacts/{id}`; `null` when it is unknown. */
  readonly byRoute: ReadonlyMap<string, number> | null;
  /** Why the numbers are missing or incomplete. */
  readonly note: string | null;
}

/** @throws CommandError when the host is unreachable. */
export async function countRecentCalls(client: HostClient, module: string): Promise<RecentCalls> {
  const since = new Date(Date.now() + client.clockSkewMs - CALLS_WINDOW_MS).toISOString();
  const byRoute = new Map<string, number>();
  let cursor: string | null = null;
  try {
    for (let page = 0; page < MAX_PAGES; page += 1) {
      const query = new URLSearchParams({ module, since, limit: String(PAGE_LIMIT) });
      if (cursor !== null) query.set('cursor', cursor);
      const { calls, next_cursor = null } = await requestJson(client, `/calls?${query}`, callsPage);
      for (const { method, route } of calls) countCall(byRoute, method, route);
      if (next_cursor === null || calls.length === 0) return { byRoute, note: null };
      cursor = next_cursor;
    }
    return {
      byRoute,
      note: `at least: only the last ${MAX_PAGES * PAGE_LIMIT} calls were counted`,
    };
  } catch (error) {
    return { byRoute: null, note: explainRejection(error) };
  }
}

/** HEAD requests count for the GET route, which serves them. */
function countCall(byRoute: Map<string, number>, method: string, route: string | null): void {
  if (route === null) return;
  const key = `${method === 'HEAD' ? 'GET' : method} ${route}`;
  byRoute.set(key, (byRoute.get(key) ?? 0) + 1);
}

function explainRejection(error: unknown): string {
  if (!(error instanceof RejectedRequest)) throw error;
  if (error.status === NOT_FOUND) return 'unknown: the host keeps no call records';
  if (error.status === FORBIDDEN) return 'unknown: the token lacks the scope modgate.calls.read';
  return `unknown: GET /calls returned ${error.status}`;
}
