import { AggregatorRegistry } from 'prom-client';
import type { Labels } from './collected-metric.js';

interface SnapshotMetric {
  readonly name: string;
  readonly help: string;
  readonly type: string;
  /** How prom-client makes one value of several. */
  readonly aggregator: string;
  readonly values: readonly {
    readonly labels: Labels;
    readonly value: number;
    readonly metricName?: string;
  }[];
}

/** Every sample of one process, or of several together, as prom-client's registries exchange them. */
export type MetricsSnapshot = readonly SnapshotMetric[];

/** One snapshot of several, each metric as its `aggregator` says. */
export async function mergeSnapshots(
  snapshots: readonly MetricsSnapshot[],
): Promise<MetricsSnapshot> {
  return (await aggregate(snapshots).getMetricsAsJSON()) as unknown as MetricsSnapshot;
}

/** The exposition format of several together. */
export function renderSnapshots(snapshots: readonly MetricsSnapshot[]): Promise<string> {
  return aggregate(snapshots).metrics();
}

/** What only grows: a process that has gone takes its gauges with it, its counts must stay. */
export function pickCounts(snapshot: MetricsSnapshot): MetricsSnapshot {
  return snapshot.filter(({ type }) => type === 'counter' || type === 'histogram');
}

/** prom-client leaves out what it cannot sum, which the start of the host is to be found by. */
function aggregate(snapshots: readonly MetricsSnapshot[]) {
  const summable = snapshots.map((snapshot) =>
    snapshot.map((metric) =>
      metric.aggregator === 'omit' ? { ...metric, aggregator: 'min' } : metric,
    ),
  );
  return AggregatorRegistry.aggregate(summable);
}
