import { useEffect, useState } from 'preact/hooks';
import { get, hasScope } from '../api.js';
import { epoch, samples } from '../live.js';
import type { CallRecord, Problem } from '../types.js';
import { roundUp } from './chart.js';
import { Empty, Loading, ProblemBox } from './parts.js';

const MAX_ROWS = 12;

const SPAN_MS = 15 * 60_000;
/** The maximum number of calls of the last 15 minutes; the newest are used. */
const MAX_CALLS = 1000;

interface LatencyRow {
  readonly name: string;
  readonly calls: number;
  /** Milliseconds. */
  readonly p50: number;
  readonly p95: number;
}

interface LatencyProps {
  /** `null` for all. */
  readonly module: string | null;
  /** The heading of the rows. */
  readonly head: string;
  readonly nameOf: (call: CallRecord) => string | null;
  readonly hrefOf?: (name: string) => string;
}

/**
 * Shows the latency of the calls of the last 15 minutes, slowest first: the median and the 95th
 * percentile.
 */
export function Latency({ module, head, nameOf, hrefOf }: LatencyProps) {
  const recent = useRecentCalls(module);
  if (!hasScope('modgate.calls.read'))
    return <Empty title="Latencies cannot be shown">They need the scope modgate.calls.read.</Empty>;
  const rows = measure(recent, nameOf);
  if (recent.problem) return <ProblemBox problem={recent.problem} />;
  if (rows === null) return <Loading />;
  if (rows.length === 0)
    return (
      <Empty title="No calls in the last 15 minutes">
        Call a route, for instance on the page <a href="/console/api">API</a>.
      </Empty>
    );
  const visibleRows = rows.slice(0, MAX_ROWS);
  const top = roundUp(Math.max(1, ...visibleRows.map(({ p95 }) => p95)));
  return (
    <section class="latency" aria-label={`Latency by ${head.toLowerCase()}`} tabIndex={0}>
      <table>
        <thead>
          <tr>
            <th scope="col">{head}</th>
            <td class="bars" aria-hidden="true">
              <span class="scale">
                <span>0</span>
                <span>{formatMs(top / 2)}</span>
                <span>{formatMs(top)} ms</span>
              </span>
            </td>
            <th scope="col" class="number">
              <span class="legend main">Median</span>
            </th>
            <th scope="col" class="number">
              <span class="legend soft">95 %</span>
            </th>
            <th scope="col" class="number">
              Calls
            </th>
          </tr>
        </thead>
        <tbody>
          {visibleRows.map(({ name, calls, p50, p95 }) => (
            <tr key={name}>
              <th scope="row">
                {hrefOf ? <a href={hrefOf(name)}>{name}</a> : <code>{name}</code>}
              </th>
              <td class="bars" aria-hidden="true">
                <span class="track">
                  <span class="bar soft" style={{ width: `${(100 * p95) / top}%` }} />
                  <span class="bar main" style={{ width: `${(100 * p50) / top}%` }} />
                </span>
              </td>
              <td class="number">{formatMs(p50)} ms</td>
              <td class="number">{formatMs(p95)} ms</td>
              <td class="number">{calls.toLocaleString('en')}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {rows.length > visibleRows.length && (
        <p class="fine">and {rows.length - visibleRows.length} that were faster</p>
      )}
    </section>
  );
}

function measure({ calls }: RecentCalls, nameOf: LatencyProps['nameOf']): LatencyRow[] | null {
  if (calls === null) return null;
  const byName = Map.groupBy(calls, (call) => nameOf(call));
  return [...byName]
    .flatMap(([name, list]) => {
      if (name === null) return [];
      const sorted = list.map(({ duration_ms: ms }) => ms).sort((a, b) => a - b);
      const percentile = (share: number) => sorted[Math.ceil(share * sorted.length) - 1] ?? 0;
      return [{ name, calls: list.length, p50: percentile(0.5), p95: percentile(0.95) }];
    })
    .sort((a, b) => b.p95 - a.p95);
}

function formatMs(ms: number): string {
  return ms < 10 ? ms.toFixed(1).replace('.0', '') : Math.round(ms).toLocaleString('en');
}

interface RecentCalls {
  /** Newest first; `null` until they are read, and if the actor may not read them. */
  readonly calls: readonly CallRecord[] | null;
  readonly problem: Problem | null;
}

/**
 * Returns the calls of the last 15 minutes, updated with each sample. @param module `null` for all
 */
function useRecentCalls(module: string | null): RecentCalls {
  const [recent, setRecent] = useState<RecentCalls>({ calls: null, problem: null });
  // Samples that come during the first read do not repeat it, because it can be long.
  const isRead = recent.calls !== null || recent.problem !== null;
  const sampledAt = isRead ? (samples.value.at(-1)?.at ?? null) : null;
  const restarts = epoch.value;
  useEffect(() => {
    if (!hasScope('modgate.calls.read')) return;
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

/** Removes duplicates: both lists contain the calls of their common moment. */
function join(fresh: readonly CallRecord[], earlier: readonly CallRecord[]): CallRecord[] {
  const keys = new Set(fresh.map(keyOf));
  return [...fresh, ...earlier.filter((call) => !keys.has(keyOf(call)))].slice(0, MAX_CALLS);
}

const keyOf = ({ request_id: id, at }: CallRecord) => `${id} ${at}`;
