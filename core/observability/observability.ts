import { RecentCallBuffer } from './calls/recent-calls.js';
import type { StoredCalls } from './calls/stored-calls.js';
import type { RequestObserver } from './completed-request.js';
import type { ObservedHost } from './metrics/host-metrics.js';
import { Metrics } from './metrics/metrics.js';
import { SurfaceMetrics } from './metrics/surface-metrics.js';

/** Metrics, call records and traces of the host. */
export interface Observability {
  readonly metrics: Metrics;
  readonly calls: RecentCallBuffer;
  readonly observe: RequestObserver;
}

/** @param stored `null` where calls are not stored */
export function createObservability(
  host: ObservedHost,
  stored: StoredCalls | null = null,
): Observability {
  const metrics = new Metrics(host);
  const surfaces = new SurfaceMetrics();
  metrics.add(surfaces.describe());
  const calls = new RecentCallBuffer();
  return {
    metrics,
    calls,
    observe: (completed) => {
      metrics.count(completed);
      if (completed.facts.isForSurface) surfaces.count(completed);
      calls.add(completed);
      stored?.add(completed);
      completed.facts.span?.end(completed.status);
    },
  };
}
