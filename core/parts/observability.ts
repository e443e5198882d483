import { CallHistory } from '../observability/calls/call-history.js';
import { shareRecentCalls } from '../observability/calls/recent-calls.js';
import { shareMetrics } from '../observability/metrics/retired-metrics.js';
import { createObservability } from '../observability/observability.js';
import { CALL_RECORDS } from '../operations/status/call-record.js';
import { METRICS } from '../operations/status/read-metrics.js';
import { ACCESS } from './access.js';
import { MODULES } from './modules.js';
import { definePart, PROCESSES, provide } from './part.js';
import { RECORDS } from './records.js';

/** Metrics and call records of the host. */
export const OBSERVABILITY = definePart(
  'observability',
  [PROCESSES, ACCESS.token, RECORDS.token, MODULES.token],
  (processes, { authentication }, { archive, host }, { registry }) => {
    const observed = {
      list: () => registry.list(),
      get reloads() {
        return registry.reloads;
      },
      rejectedActors: () => authentication.actorRate?.rejected ?? 0,
    };
    const { metrics, calls, observe } = createObservability(observed, archive, host);
    const hostMetrics = shareMetrics(processes, metrics);
    const recent = shareRecentCalls(processes, calls);
    const records = archive === null ? recent : new CallHistory(recent, archive, calls);
    return {
      registry: metrics,
      observe,
      provides: [provide(METRICS, hostMetrics), provide(CALL_RECORDS, records)],
      onDrained: () => hostMetrics.retire(),
    };
  },
);
