import type { MetricsSnapshot } from '../observability/metrics/metrics-snapshot.js';

/**
 * The maximum number of series of a metric. Those of the modules that were called first are
 * removed.
 */
const MAX_VALUES = 100_000;

/**
 * Counters of exited workers, so that the host's totals do not fall when a worker is replaced. They
 * are exact for a drained worker; for a killed worker they are its last report.
 */
export class RetiredMetrics {
  readonly #reported = new Map<number, MetricsSnapshot>();
  readonly #maxValues: number;
  #total: MetricsSnapshot = [];
  #work: Promise<void> = Promise.resolve();

  /** @param maxValues the maximum of each metric; the first ones are removed */
  constructor(maxValues: number = MAX_VALUES) {
    this.#maxValues = maxValues;
  }

  /** Resolves with the counters of all workers that have exited so far. */
  async read(): Promise<MetricsSnapshot> {
    for (let work = this.#work; ; work = this.#work) {
      await work;
      if (work === this.#work) return this.#total;
    }
  }

  /** Replaces the worker's last report. */
  note(worker: number, snapshot: MetricsSnapshot): void {
    this.#reported.set(worker, snapshot);
  }

  /** The last report of each running worker. */
  listReported(): readonly MetricsSnapshot[] {
    return [...this.#reported.values()];
  }

  /** Adds the last report of a worker that has exited to the total. */
  retire(worker: number): void {
    const last = this.#reported.get(worker);
    this.#reported.delete(worker);
    if (last === undefined) return;
    this.#work = this.#work.then(async () => {
      // Imported on first use, because the primary has no other metrics and should start quickly.
      const { mergeSnapshots, pickCounts } = await import(
        '../observability/metrics/metrics-snapshot.js'
      );
      const merged = await mergeSnapshots([this.#total, pickCounts(last)]);
      const maxValues = this.#maxValues;
      this.#total = merged.map((metric) => ({
        ...metric,
        values: metric.values.slice(-maxValues),
      }));
    });
  }
}
