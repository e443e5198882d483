import { type IntervalHistogram, monitorEventLoopDelay } from 'node:perf_hooks';
import type { ScrapedMetric } from './scraped-metric.js';

const RESOLUTION_MS = 10;
const NANOSECONDS_PER_SECOND = 1e9;
const RESOLUTION_SECONDS = RESOLUTION_MS / 1000;
const QUANTILES = [0.5, 0.9, 0.99, 1] as const;

/** How late the event loop is since the last scrape. Does not keep the process alive. */
export class EventLoopMetric implements ScrapedMetric {
  readonly name = 'modgate_event_loop_delay_seconds';
  readonly help = 'Delay of the event loop since the last scrape; quantile 1 is the longest.';
  readonly type = 'gauge';
  readonly aggregator = 'max';
  readonly #histogram: IntervalHistogram = monitorEventLoopDelay({ resolution: RESOLUTION_MS });

  constructor() {
    this.#histogram.enable();
  }

  read() {
    const samples = QUANTILES.map((quantile) => ({
      labels: { quantile: String(quantile) },
      value: this.#readQuantile(quantile),
    }));
    this.#histogram.reset();
    return samples;
  }

  close(): void {
    this.#histogram.disable();
  }

  /** The histogram holds the time between two samples, of which the resolution is no delay. */
  #readQuantile(quantile: number): number {
    if (this.#histogram.count === 0) return 0;
    const between = this.#histogram.percentile(100 * quantile) / NANOSECONDS_PER_SECOND;
    return Math.max(0, between - RESOLUTION_SECONDS);
  }
}
