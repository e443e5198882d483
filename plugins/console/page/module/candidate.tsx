import { useEffect, useState } from 'preact/hooks';
import type { CandidateReport } from '../../../../core/contract/candidate-report.js';
import { findResource, hasScope } from '../api.js';
import { samples } from '../live.js';
import { pathTo } from '../location.js';
import { ListTable } from '../ui/list-table.js';
import { Card, Empty, RelativeTime, ResourceState, useResource } from '../ui/parts.js';
import { Table } from '../ui/table.js';
import type { TabProps } from './tab-props.js';

const PATH = '/candidate';
/** Each interval takes at least 2 seconds. */
const MAX_INTERVALS = 90;
const SPARK_WIDTH = 180;
const SPARK_HEIGHT = 24;

type CandidateTotals = CandidateReport['totals'][number];

/** The results of copies in one interval. */
type Interval = ReadonlyMap<string, CandidateTotals>;

/** Compares the responses of the candidate with the live ones. */
export function CandidateTab({ module }: TabProps) {
  const name = module.name ?? '';
  const scope = findResource(PATH)?.scope ?? '';
  const path = hasScope(scope) ? `${PATH}?${new URLSearchParams({ module: name })}` : null;
  // Read after calls, and with each sample of the host, because copies end after their calls.
  const version = `${module.counts.calls} ${samples.value.at(-1)?.at}`;
  const resource = useResource<CandidateReport>(path, version);
  const { data } = resource;
  const intervals = useIntervals(data);
  if (path === null)
    return <Empty title="Results cannot be shown">They need the scope {scope}.</Empty>;
  return (
    <>
      <p class="fine">Copies of calls are sent to {module.candidate?.origins.join(', ')}</p>
      <ResourceState of={resource} />
      {data && (
        <>
          <Card title="Results by route">
            <ResultTable totals={data.totals} intervals={intervals} />
          </Card>
          <Card title="Last 100 differences, by place">
            <DifferenceTable differences={data.differences} />
          </Card>
        </>
      )}
    </>
  );
}

/** The increases of the totals since the page was opened, oldest first. */
function useIntervals(data: CandidateReport | undefined): readonly Interval[] {
  const [state, setState] = useState<{ last?: CandidateReport; intervals: readonly Interval[] }>({
    intervals: [],
  });
  useEffect(() => {
    if (data === undefined) return;
    setState(({ last, intervals }) => {
      const added = last === undefined ? [] : [subtract(data.totals, last.totals)];
      return { last: data, intervals: [...intervals, ...added].slice(-MAX_INTERVALS) };
    });
  }, [data]);
  return state.intervals;
}

function subtract(now: readonly CandidateTotals[], before: readonly CandidateTotals[]): Interval {
  const previousTotals = new Map(before.map((totals) => [totals.route, totals]));
  return new Map(
    now.map((totals) => {
      const old = previousTotals.get(totals.route);
      const isNew = old === undefined || countOf(totals) < countOf(old);
      return [totals.route, isNew ? totals : minus(totals, old)];
    }),
  );
}

function minus(now: CandidateTotals, before: CandidateTotals): CandidateTotals {
  return {
    route: now.route,
    same: now.same - before.same,
    different: now.different - before.different,
    failed: now.failed - before.failed,
    dropped: now.dropped - before.dropped,
  };
}

function countOf({ same, different, failed, dropped }: CandidateTotals): number {
  return same + different + failed + dropped;
}

interface ResultTableProps {
  readonly totals: readonly CandidateTotals[];
  readonly intervals: readonly Interval[];
}

function ResultTable({ totals, intervals }: ResultTableProps) {
  const copied = totals.filter((totals) => countOf(totals) > 0);
  if (copied.length === 0)
    return (
      <Empty title="No copies yet">
        A share of the calls is copied once the live provider has responded.
      </Empty>
    );
  return (
    <ListTable
      of={PATH}
      rows={copied}
      keyOf={({ route }) => route}
      more={[
        {
          id: 'share',
          head: 'Differs',
          isNumber: true,
          cell: (row) => formatShares(row).different,
        },
        { id: 'broken', head: 'Fails', isNumber: true, cell: (row) => formatShares(row).failed },
        {
          id: 'time',
          head: 'While this tab is open',
          cell: ({ route }) => <Spark route={route} intervals={intervals} />,
        },
      ]}
    />
  );
}

/** The shares of the responses that could be compared. */
function sharesOf({ same, different, failed }: CandidateTotals) {
  const all = Math.max(1, same + different + failed);
  return { different: different / all, failed: failed / all };
}

function formatShares(totals: CandidateTotals) {
  const { different, failed } = sharesOf(totals);
  return { different: formatShare(different), failed: formatShare(failed) };
}

function formatShare(share: number): string {
  const percent = 100 * share;
  return `${percent > 0 && percent < 10 ? percent.toFixed(1) : Math.round(percent)} %`;
}

/**
 * Draws a bar for each interval: the share of responses that differ, and above it of those that
 * fail.
 */
function Spark({ route, intervals }: { route: string; intervals: readonly Interval[] }) {
  const all = intervals.flatMap((interval) => interval.get(route) ?? []);
  const latest = all.findLast((totals) => countOf(totals) > 0);
  const width = SPARK_WIDTH / MAX_INTERVALS;
  const words =
    latest === undefined
      ? 'no copies'
      : `${formatShares(latest).different} of the latest differ, ${formatShares(latest).failed} fail`;
  return (
    <svg
      class="spark"
      viewBox={`0 0 ${SPARK_WIDTH} ${SPARK_HEIGHT}`}
      role="img"
      aria-label={`${route}: ${words}`}
    >
      {all.map((totals, index) => {
        const { different, failed } = sharesOf(totals);
        const x = SPARK_WIDTH - (all.length - index) * width;
        const [low, high] = [different * SPARK_HEIGHT, failed * SPARK_HEIGHT];
        return (
          <g key={index}>
            <rect x={x} y={SPARK_HEIGHT - low} width={width} height={low} />
            <rect class="bad" x={x} y={SPARK_HEIGHT - low - high} width={width} height={high} />
          </g>
        );
      })}
    </svg>
  );
}

interface Place {
  readonly route: string;
  readonly place: string;
  readonly kind: string;
  times: number;
  /** The time of the latest difference. */
  readonly at: string;
  readonly request: string;
}

const KINDS: Readonly<Record<string, string>> = {
  missing: 'missing in the candidate',
  extra: 'only in the candidate',
  type: 'another type',
  value: 'another value',
};

function DifferenceTable({ differences }: Pick<CandidateReport, 'differences'>) {
  const places = groupByPlace(differences);
  if (places.length === 0)
    return <Empty title="No differences">All compared responses are equal.</Empty>;
  return (
    <Table
      caption="Differences by place"
      rows={places}
      keyOf={({ route, place, kind }) => `${route} ${place} ${kind}`}
      columns={[
        { id: 'route', head: 'Route', cell: ({ route }) => <code>{route}</code> },
        { id: 'place', head: 'Place', cell: ({ place }) => <code>{place}</code> },
        { id: 'kind', head: 'Difference', cell: ({ kind }) => KINDS[kind] ?? kind },
        { id: 'times', head: 'Times', isNumber: true, cell: ({ times }) => times },
        { id: 'at', head: 'Latest', cell: ({ at }) => <RelativeTime at={at} /> },
        {
          id: 'request',
          head: 'Latest call',
          cell: ({ request }) => (
            <a href={`${pathTo('calls')}?${new URLSearchParams({ request_id: request })}`}>
              {request}
            </a>
          ),
        },
      ]}
    />
  );
}

/** Sorts the most frequent first. */
function groupByPlace(differences: CandidateReport['differences']): readonly Place[] {
  const places = new Map<string, Place>();
  for (const { route, at, request_id: request, live, candidate, pointers } of differences) {
    const ofStatus = { pointer: `status ${live}`, kind: `status ${candidate}` };
    for (const { pointer, kind } of live === candidate ? pointers : [ofStatus, ...pointers]) {
      const key = JSON.stringify([route, pointer, kind]);
      const place = places.get(key);
      if (place === undefined) {
        places.set(key, { route, place: pointer || 'the whole body', kind, times: 1, at, request });
      } else place.times += 1;
    }
  }
  return [...places.values()].sort((a, b) => b.times - a.times);
}
