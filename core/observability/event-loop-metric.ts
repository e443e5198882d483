import type { ScrapedMetric } from './metrics/collected-metric.js';

const QUANTILES = [0.5, 0.9, 0.99, 1] as const;

/** Who measures how late the event loop is. */
interface MeasuredLoop {
  /** Seconds, since they were taken last. */
  takeQuantiles(quantiles: readonly number[]): readonly number[];
}

export function describeEventLoop(loop: MeasuredLoop): ScrapedMetric {
  return {
    name: 'modgate_event_loop_delay_seconds',
    help: 'Delay of the event loop since the last scrape; quantile 1 is the longest.',
    type: 'gauge',
    aggregator: 'max',
    read: () => {
      const taken = loop.takeQuantiles(QUANTILES);
      return QUANTILES.map((quantile, index) => ({
        labels: { quantile: String(quantile) },
        value: taken[index] as number,
      }));
    },
  };
}
