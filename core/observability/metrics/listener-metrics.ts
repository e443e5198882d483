import { type CollectedMetric, readCounts, readValue } from './collected-metric.js';

interface ObservedListener {
  readonly connections: {
    readonly open: number;
    readonly dropped: number;
    readonly failedHandshakes: number;
  };
  /** `null`: no TLS. */
  readonly certificate: ObservedCertificate | null;
}

interface ObservedCertificate {
  readonly current: { readonly certificate: { readonly validTo: string } };
  readonly reloads: { readonly success: number; readonly failure: number };
}

const MS_PER_SECOND = 1000;

/** The metrics of connections, and of the certificate where there is one. */
export function createListenerMetrics(listener: ObservedListener): CollectedMetric[] {
  const { connections, certificate } = listener;
  const metrics: CollectedMetric[] = [
    {
      name: 'modgate_connections',
      help: 'Open client connections.',
      type: 'gauge',
      aggregator: 'sum',
      read: () => readValue(connections.open),
    },
    {
      name: 'modgate_connections_dropped_total',
      help: 'Connections closed at once because of the connection limit.',
      type: 'counter',
      aggregator: 'sum',
      read: () => readValue(connections.dropped),
    },
  ];
  if (certificate === null) return metrics;
  return [
    ...metrics,
    {
      name: 'modgate_tls_handshakes_failed_total',
      help: 'TLS handshakes that failed or took too long.',
      type: 'counter',
      aggregator: 'sum',
      read: () => readValue(connections.failedHandshakes),
    },
    {
      name: 'modgate_tls_reload_total',
      help: 'Certificate reloads that were applied (success) or rejected (failure).',
      type: 'counter',
      aggregator: 'sum',
      read: () => readCounts('result', certificate.reloads),
    },
    {
      name: 'modgate_tls_certificate_expiry_timestamp_seconds',
      help: 'Expiry of the certificate of the listener, in seconds since 1970.',
      type: 'gauge',
      aggregator: 'min',
      read: () => readValue(Date.parse(certificate.current.certificate.validTo) / MS_PER_SECOND),
    },
  ];
}
