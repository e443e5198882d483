import { RecentCallBuffer } from './calls/recent-calls.js';
import type { StoredCalls } from './calls/stored-calls.js';
import type { RequestObserver } from './completed-request.js';
import { Metrics } from './metrics/metrics.js';
import type { ObservedHost } from './metrics/module-metrics.js';

/** What the host tells of itself. */
export interface Observability {
  readonly metrics: Metrics;
  readonly calls: RecentCallBuffer;
  readonly observe: RequestObserver;
}

/** @param archive `null` where no calls are kept in the store */
export function createObservability(
  host: ObservedHost,
  archive: StoredCalls | null = null,
): Observability {
  const metrics = new Metrics(host);
  const calls = new RecentCallBuffer();
  return {
    metrics,
    calls,
    observe: (ended) => {
      metrics.count(ended);
      calls.add(ended);
      archive?.add(ended);
      ended.trace.span?.end(ended.status);
    },
  };
}
