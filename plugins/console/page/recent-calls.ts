import { useEffect, useState } from 'preact/hooks';
import { get, holds } from './api.js';
import { epoch, samples } from './live.js';
import type { CallRecord, Problem } from './types.js';

const SPAN_MS = 15 * 60_000;
/** The newest of the last 15 minutes. */
const MAX_CALLS = 1000;

export interface RecentCalls {
  /** Newest first; `null` until they have been read, or where the actor may not read them. */
  readonly calls: readonly CallRecord[] | null;
  readonly problem: Problem | null;
}

/** Calls of the last 15 minutes, which follow the samples. @param module `null` for all */
export function useRecentCalls(module: string | null): RecentCalls {
  const [recent, setRecent] = useState<RecentCalls>({ calls: null, problem: null });
  const sampledAt = samples.value.at(-1)?.at ?? null;
  const restarts = epoch.value;
  useEffect(() => {
    if (!holds('modgate.calls.read')) return;
    const abort = new AbortController();
    const start = new Date((sampledAt ?? Date.now()) - SPAN_MS).toISOString();
    const since = recent.calls?.[0]?.at ?? start;
    const parameters = new URLSearchParams({ since, limit: String(MAX_CALLS) });
    if (module !== null) parameters.set('module', module);
    get<{ calls: CallRecord[] }>(`/calls?${parameters}`, abort.signal).then(
      (answer) => {
        if (!answer.ok) setRecent(({ calls }) => ({ calls, problem: answer.problem }));
        else
          setRecent(({ calls }) => ({
            calls: join(answer.data.calls, calls ?? []).filter(({ at }) => at >= start),
            problem: null,
          }));
      },
      () => {},
    );
    return () => abort.abort();
  }, [module, sampledAt, restarts]);
  return recent;
}

/** Both lists have the calls of the moment at which one ends and the other begins. */
function join(fresh: readonly CallRecord[], known: readonly CallRecord[]): CallRecord[] {
  const keys = new Set(fresh.map(keyOf));
  return [...fresh, ...known.filter((one) => !keys.has(keyOf(one)))].slice(0, MAX_CALLS);
}

const keyOf = ({ request_id: id, at }: CallRecord) => `${id} ${at}`;
