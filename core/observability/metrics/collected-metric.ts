import type { Metric, Registry } from 'prom-client';

export type Labels = Readonly<Record<string, string>>;

export interface Sample {
  readonly labels: Labels;
  readonly value: number;
  /** Where it is not the name of the metric: `…_bucket`. */
  readonly metricName?: string;
}

/**
 * A metric whose samples are read from what they describe, at the moment of a scrape: nothing is kept
 * twice, and what is gone is gone from the metrics too.
 */
export interface CollectedMetric {
  readonly name: string;
  readonly help: string;
  readonly type: 'counter' | 'gauge' | 'histogram';
  /** How one value is made of those of several workers. */
  readonly aggregator: 'sum' | 'max' | 'min';
  read(): Sample[];
}

/** Registers it as prom-client sees a metric: something that answers `get` and takes a `reset`. */
export function registerCollected(registry: Registry, metric: CollectedMetric): void {
  const { name, help, type, aggregator } = metric;
  const registered = {
    name,
    get: async () => ({ name, help, type, aggregator, values: metric.read() }),
    reset: () => {},
  };
  // Its type names the four classes of its own; its registry asks for no more than this.
  registry.registerMetric(registered as unknown as Metric<string>);
}
