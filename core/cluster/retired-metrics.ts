import type { MetricsSnapshot } from '../observability/metrics/metrics-snapshot.js';

/**
 * What workers had counted that are no more: a sum over all must not fall when one is replaced. Of a worker
 * that drained it is exact; of one that was killed, what it told last.
 */
export class RetiredMetrics {
  readonly #told = new Map<number, MetricsSnapshot>();
  #departed: MetricsSnapshot = [];
  #work: Promise<void> = Promise.resolve();

  /** Resolves with the counts of all who have gone so far. */
  async read(): Promise<MetricsSnapshot> {
    for (let work = this.#work; ; work = this.#work) {
      await work;
      if (work === this.#work) return this.#departed;
    }
  }

  /** What a worker has told last. */
  note(worker: number, snapshot: MetricsSnapshot): void {
    this.#told.set(worker, snapshot);
  }

  /** What each of those who are there has told last. */
  listReported(): readonly MetricsSnapshot[] {
    return [...this.#told.values()];
  }

  /** The worker has gone. */
  retire(worker: number): void {
    const last = this.#told.get(worker);
    this.#told.delete(worker);
    if (last === undefined) return;
    this.#work = this.#work.then(async () => {
      // Not at the start: the primary has no metrics of its own.
      const { mergeSnapshots, pickCounts } = await import(
        '../observability/metrics/metrics-snapshot.js'
      );
      this.#departed = await mergeSnapshots([this.#departed, pickCounts(last)]);
    });
  }
}
