import {
  createFleetMetrics,
  createReleaseMetrics,
} from '../../../core/observability/metrics/fleet-metrics.js';
import { createListenerMetrics } from '../../../core/observability/metrics/process-metrics.js';

interface DescribedMetric {
  readonly name: string;
  readonly type: string;
  readonly labels: readonly string[];
}

/** The metrics that only a host with TLS, in a fleet, or with releases has. */
export function describeOptionalMetrics(): DescribedMetric[] {
  const certificate = {
    current: { certificate: { validTo: 'Jan 31 12:00:00 2027 GMT' } },
    reloads: { success: 0, failure: 0 },
  };
  const connections = { open: 0, dropped: 0, failedHandshakes: 0 };
  const ofTls = createListenerMetrics({ connections, certificate }).filter(({ name }) =>
    name.startsWith('modgate_tls_'),
  );
  const ofFleet = createFleetMetrics({ last: null, clockSkewMs: null });
  return [...ofTls, ...ofFleet, ...createReleaseMetrics({ status: null })].map(
    ({ name, type, labelNames = [] }) => ({ name, type, labels: [...labelNames].sort() }),
  );
}
