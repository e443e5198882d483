import { RecentCalls } from './calls/recent-calls.js';
import type { StoredCalls } from './calls/stored-calls.js';
import { isRecorded, keepCall, type RequestObserver } from './completed-request.js';
import type { ObservedHost } from './metrics/host-metrics.js';
import { Metrics } from './metrics/metrics.js';

/** Metrics, call records and traces of one process. */
interface Observability {
  readonly metrics: Metrics;
  readonly calls: RecentCalls;
  readonly observe: RequestObserver;
}

/**
 * @param stored `null` if calls are not stored
 * @param id the id of the host in its fleet; `null` without one
 */
export function createObservability(
  host: ObservedHost,
  stored: StoredCalls | null = null,
  id: string | null = null,
): Observability {
  const metrics = new Metrics(host);
  const calls = new RecentCalls();
  return {
    metrics,
    calls,
    observe: (completed) => {
      metrics.requests.count(completed);
      if (isRecorded(completed)) {
        const call = keepCall(completed);
        call.host = id;
        calls.add(call, completed.facts.bodies);
        stored?.add(call);
      }
      completed.facts.span?.end(completed.status, completed.rejection);
    },
  };
}
