import type { MetricsSnapshot } from '../observability/metrics/metrics-snapshot.js';

/**
 * Counters of exited workers: the host's totals must not fall when a worker is replaced. They are
 * exact for a worker that drained, and its last report for one that was killed.
 */
export class RetiredMetrics {
  readonly #reported = new Map<number, MetricsSnapshot>();
  #total: MetricsSnapshot = [];
  #work: Promise<void> = Promise.resolve();

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
      this.#total = await mergeSnapshots([this.#total, pickCounts(last)]);
    });
  }
}
