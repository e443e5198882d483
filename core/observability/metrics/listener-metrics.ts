import type { CollectedMetric, Sample } from './collected-metric.js';

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
  const metrics = [
    describe('gauge', 'sum', 'modgate_connections', 'Open client connections.', () =>
      readValue(connections.open),
    ),
    describe(
      'counter',
      'sum',
      'modgate_connections_dropped_total',
      'Connections closed at once because of the connection limit.',
      () => readValue(connections.dropped),
    ),
  ];
  if (certificate === null) return metrics;
  return [
    ...metrics,
    describe(
      'counter',
      'sum',
      'modgate_tls_handshakes_failed_total',
      'TLS handshakes that failed or took too long.',
      () => readValue(connections.failedHandshakes),
    ),
    describe(
      'counter',
      'sum',
      'modgate_tls_reload_total',
      'Certificate reloads that were applied (success) or rejected (failure).',
      () => [
        { labels: { result: 'success' }, value: certificate.reloads.success },
        { labels: { result: 'failure' }, value: certificate.reloads.failure },
      ],
    ),
    describe(
      'gauge',
      'min',
      'modgate_tls_certificate_expiry_timestamp_seconds',
      'Expiry of the certificate of the listener, in seconds since 1970.',
      () => readValue(Date.parse(certificate.current.certificate.validTo) / MS_PER_SECOND),
    ),
  ];
}

function describe(
  type: CollectedMetric['type'],
  aggregator: CollectedMetric['aggregator'],
  name: string,
  help: string,
  read: () => Sample[],
): CollectedMetric {
  return { name, help, type, aggregator, read };
}

function readValue(value: number): Sample[] {
  return [{ labels: {}, value }];
}
