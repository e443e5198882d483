import { holds } from '../api.js';
import { type RecentCalls, useRecentCalls } from '../recent-calls.js';
import type { CallRecord } from '../types.js';
import { roundUp } from './chart.js';
import { Empty, Loading, ProblemBox } from './parts.js';

const MAX_ROWS = 12;

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
  /** What a bar stands for. */
  readonly head: string;
  readonly nameOf: (call: CallRecord) => string | null;
  readonly hrefOf?: (name: string) => string;
}

/** How long the calls of the last 15 minutes took, slowest first: half of them, and 95 of 100. */
export function Latency({ module, head, nameOf, hrefOf }: LatencyProps) {
  const recent = useRecentCalls(module);
  if (!holds('modgate.calls.read'))
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
  const shown = rows.slice(0, MAX_ROWS);
  const top = roundUp(Math.max(1, ...shown.map(({ p95 }) => p95)));
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
          {shown.map(({ name, calls, p50, p95 }) => (
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
      {rows.length > shown.length && (
        <p class="fine">and {rows.length - shown.length} that were faster</p>
      )}
    </section>
  );
}

function measure({ calls }: RecentCalls, nameOf: LatencyProps['nameOf']): LatencyRow[] | null {
  if (calls === null) return null;
  const byName = Map.groupBy(calls, (one) => nameOf(one));
  return [...byName]
    .flatMap(([name, list]) => {
      if (name === null) return [];
      const sorted = list.map(({ duration_ms: ms }) => ms).sort((a, b) => a - b);
      const at = (share: number) => sorted[Math.ceil(share * sorted.length) - 1] ?? 0;
      return [{ name, calls: list.length, p50: at(0.5), p95: at(0.95) }];
    })
    .sort((a, b) => b.p95 - a.p95);
}

function formatMs(ms: number): string {
  return ms < 10 ? ms.toFixed(1).replace('.0', '') : Math.round(ms).toLocaleString('en');
}
