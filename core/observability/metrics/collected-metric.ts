export type Labels = Readonly<Record<string, string>>;

export interface Sample {
  readonly labels: Labels;
  readonly value: number;
  /** Where it differs from the name of the metric: `…_bucket`. */
  readonly metricName?: string;
}

/**
 * A metric whose samples are read at the scrape from the objects that they describe: nothing is stored
 * twice, and a removed object disappears from the metrics.
 */
export interface CollectedMetric {
  readonly name: string;
  readonly help: string;
  readonly type: 'counter' | 'gauge' | 'histogram';
  /** Combines the values of several workers. */
  readonly aggregator: 'sum' | 'max' | 'min';
  read(): Sample[];
}

/** The sample of a metric without labels. */
export function readValue(value: number): Sample[] {
  return [{ labels: {}, value }];
}

/** A sample for each count; the label is its name. */
export function readCounts(label: string, counts: Readonly<Record<string, number>>): Sample[] {
  return Object.entries(counts).map(([name, value]) => ({ labels: { [label]: name }, value }));
}
