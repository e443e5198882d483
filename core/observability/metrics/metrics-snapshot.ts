import { AggregatorRegistry } from 'prom-client';
import type { Labels } from './collected-metric.js';

export interface SnapshotMetric {
  readonly name: string;
  readonly help: string;
  readonly type: string;
  /** The method by which prom-client combines several values. */
  readonly aggregator: string;
  readonly values: readonly {
    readonly labels: Labels;
    readonly value: number;
    readonly metricName?: string;
  }[];
}

/** All samples of one or several processes, in the format of prom-client's registries. */
export type MetricsSnapshot = readonly SnapshotMetric[];

/** Merges snapshots; each metric by its `aggregator`. */
export async function mergeSnapshots(
  snapshots: readonly MetricsSnapshot[],
): Promise<MetricsSnapshot> {
  return (await aggregate(snapshots).getMetricsAsJSON()) as unknown as MetricsSnapshot;
}

/** Renders several snapshots in the exposition format. */
export function renderSnapshots(snapshots: readonly MetricsSnapshot[]): Promise<string> {
  return aggregate(snapshots).metrics();
}

/** Picks counters and histograms, which are kept when a worker exits; gauges are not. */
export function pickCounts(snapshot: MetricsSnapshot): MetricsSnapshot {
  return snapshot.filter(({ type }) => type === 'counter' || type === 'histogram');
}

/** prom-client omits metrics that cannot be summed; the earliest start time is kept. */
function aggregate(snapshots: readonly MetricsSnapshot[]) {
  const summable = snapshots.map((snapshot) =>
    snapshot.map((metric) =>
      metric.aggregator === 'omit' ? { ...metric, aggregator: 'min' } : metric,
    ),
  );
  return AggregatorRegistry.aggregate(summable);
}
