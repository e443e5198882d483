import type { MetricsSource } from '../../operations/status/read-metrics.js';
import type { MessageSource, PrimaryPart, Processes, SharedService } from '../../processes.js';
import type { Metrics } from './metrics.js';
import type { MetricsSnapshot } from './metrics-snapshot.js';

/**
 * The maximum number of series of a metric. Those of the modules that were called first are
 * removed.
 */
const MAX_VALUES = 100_000;

interface KnownMetrics {
  /** The last report of each running worker. */
  readonly snapshots: readonly MetricsSnapshot[];
  /** Counters of workers that have exited. */
  readonly retired: MetricsSnapshot;
}

/** Keeps the counters of a process that ends. */
type Retire = (last: () => Promise<MetricsSnapshot>) => Promise<void>;

/** Has the name of the subject whose answers it completes. */
export const RETIRED_METRICS: SharedService<Retire> = {
  name: 'metrics',
  createLocal: () => async () => {},
  createClient: (link) => async (last) => link.sendLast(await last()),
  createPrimary: () => new RetiredMetrics(),
};

/** The metrics of a host, over all of its processes. */
export interface HostMetrics extends MetricsSource {
  /** Call it once, when this process has ended its last request. */
  retire(): Promise<void>;
}

export function shareMetrics(
  processes: Pick<Processes, 'share' | 'connect'>,
  metrics: Metrics,
): HostMetrics {
  const retire = processes.connect(RETIRED_METRICS);
  const read = () => metrics.snapshot();
  const askAll = processes.share<null, MetricsSnapshot, KnownMetrics>('metrics', read);
  return {
    contentType: metrics.contentType,
    render: async () => {
      const { answers, known } = await askAll(null);
      // Imported on first use, as it imports prom-client.
      const { renderSnapshots } = await import('./metrics-snapshot.js');
      const answered = answers.map(({ answer }) => answer);
      if (known === null) return renderSnapshots(answered);
      // Includes the last report of a worker that did not answer in time.
      const snapshots = known.snapshots.length === 0 ? answered : known.snapshots;
      return renderSnapshots([...snapshots, metrics.forgetRemoved(known.retired)]);
    },
    retire: () => retire(read),
  };
}

/**
 * Counters of exited workers, so that the host's totals do not fall when a worker is replaced. They
 * are exact for a drained worker; for a killed worker they are its last report.
 */
export class RetiredMetrics implements PrimaryPart {
  readonly #reported = new Map<number, MetricsSnapshot>();
  /** Workers that have sent their last report. */
  readonly #final = new Set<number>();
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
  observe(worker: number, snapshot: MetricsSnapshot): void {
    if (!this.#final.has(worker)) this.#reported.set(worker, snapshot);
  }

  receive(snapshot: MetricsSnapshot, { id }: MessageSource): void {
    this.#reported.set(id, snapshot);
    this.#final.add(id);
  }

  async contribute(): Promise<KnownMetrics> {
    const retired = await this.read();
    // No worker can exit between these two reads, so each is counted once.
    return { snapshots: [...this.#reported.values()], retired };
  }

  /** Adds the last report of a worker that has exited to the total. */
  onExit(worker: number): void {
    const last = this.#reported.get(worker);
    this.#reported.delete(worker);
    this.#final.delete(worker);
    if (last === undefined) return;
    this.#work = this.#work.then(async () => {
      // Imported on first use, because the primary has no other metrics and should start quickly.
      const { mergeSnapshots, pickCounts } = await import('./metrics-snapshot.js');
      const merged = await mergeSnapshots([this.#total, pickCounts(last)]);
      const maxValues = this.#maxValues;
      this.#total = merged.map((metric) => ({
        ...metric,
        values: metric.values.slice(-maxValues),
      }));
    });
  }
}
