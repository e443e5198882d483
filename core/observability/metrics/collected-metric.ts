import type { Aggregator, Registry } from 'prom-client';

type PromClient = typeof import('prom-client');
export type Labels = Readonly<Record<string, string>>;
export type MetricSample = readonly [Labels, number];

/**
 * A metric whose samples are read at the scrape from the objects that they describe: values are not
 * stored twice, and a removed object disappears from the metrics.
 */
export interface CollectedMetric {
  readonly name: string;
  readonly help: string;
  readonly type: 'counter' | 'gauge';
  readonly labelNames?: readonly string[];
  /** Combines the values of several workers; their sum by default. */
  readonly aggregator?: Aggregator;
  /** Returns one number without labels, or samples. */
  read(): number | Iterable<MetricSample>;
}

export function registerCollected(
  { Counter, Gauge }: PromClient,
  registry: Registry,
  { type, read, labelNames = [], ...config }: CollectedMetric,
): void {
  const list = (): Iterable<MetricSample> => {
    const samples = read();
    return typeof samples === 'number' ? [[{}, samples]] : samples;
  };
  const options = { ...config, labelNames, registers: [registry] };
  if (type === 'counter') {
    new Counter({
      ...options,
      collect() {
        this.reset();
        for (const [labels, value] of list()) this.inc(labels, value);
      },
    });
    return;
  }
  new Gauge({
    ...options,
    collect() {
      this.reset();
      for (const [labels, value] of list()) this.set(labels, value);
    },
  });
}

/** A sample for each count; the label is its name. */
export function readCounts(
  label: string,
  counts: Readonly<Record<string, number>>,
): MetricSample[] {
  return Object.entries(counts).map(([name, value]) => [{ [label]: name }, value]);
}
