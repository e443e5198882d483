import { type CollectedMetric, type Labels, readValue, type Sample } from './collected-metric.js';
import type { ModuleCounts, RequestCounts, RouteCounts } from './request-counts.js';

/** The metrics of requests. */
export function createRequestMetrics(counts: RequestCounts): CollectedMetric[] {
  const histogram = (name: string, help: string, pick: 'host' | 'provider'): CollectedMetric => ({
    name,
    help,
    type: 'histogram',
    aggregator: 'sum',
    read: () => readRoutes(counts, (labels, route) => route[pick].read(name, labels)),
  });
  return [
    {
      name: 'modgate_requests_total',
      help: 'Completed forwarded requests.',
      type: 'counter',
      aggregator: 'sum',
      read: () => readRoutes(counts, readStatuses),
    },
    histogram(
      'modgate_host_duration_seconds',
      'Duration of a forwarded request without the time of the provider.',
      'host',
    ),
    histogram(
      'modgate_provider_duration_seconds',
      'Time of the provider for a forwarded request, over all attempts.',
      'provider',
    ),
    {
      name: 'modgate_schema_violations_total',
      help: 'Forwarded requests and responses that violated a schema of their route.',
      type: 'counter',
      aggregator: 'sum',
      read: () => readRoutes(counts, readViolations),
    },
    {
      name: 'modgate_failures_total',
      help: 'Failed forwarded requests by failure.',
      type: 'counter',
      aggregator: 'sum',
      read: () => readModules(counts, readFailures),
    },
    {
      name: 'modgate_callers_rejected_total',
      help: 'Forwarded requests of actors of a kind that the module is not open to.',
      type: 'counter',
      aggregator: 'sum',
      read: () => readModules(counts, readRejectedCallers),
    },
    {
      name: 'modgate_preflights_total',
      help: 'Answered preflights of configured origins.',
      type: 'counter',
      aggregator: 'sum',
      read: () => readValue(counts.preflights),
    },
    {
      name: 'modgate_retries_total',
      help: 'Retries of forwarded requests.',
      type: 'counter',
      aggregator: 'sum',
      read: () =>
        readModules(counts, (module, { retries }) =>
          module === '' ? [] : [{ labels: { module }, value: retries }],
        ),
    },
  ];
}

function readModules(
  counts: RequestCounts,
  read: (module: string, counts: ModuleCounts) => Sample[],
): Sample[] {
  return [...counts.modules()].flatMap(([module, ofModule]) => read(module, ofModule));
}

function readRoutes(
  counts: RequestCounts,
  read: (labels: Labels, counts: RouteCounts) => Sample[],
): Sample[] {
  return readModules(counts, (module, { byRoute }) =>
    [...byRoute].flatMap(([route, ofRoute]) => read({ module, route }, ofRoute)),
  );
}

function readStatuses({ module = '', route = '' }: Labels, { byMethod }: RouteCounts): Sample[] {
  return [...byMethod].flatMap(([method, byStatus]) =>
    [...byStatus].map(([status, value]) => ({
      labels: { module, method, route, status: String(status) },
      value,
    })),
  );
}

function readViolations({ module = '', route = '' }: Labels, counts: RouteCounts): Sample[] {
  return Object.entries(counts.violations).flatMap(([direction, value]) =>
    value === 0 ? [] : [{ labels: { module, route, direction }, value }],
  );
}

function readRejectedCallers(module: string, { rejectedCallers }: ModuleCounts): Sample[] {
  return [...rejectedCallers].map(([kind, value]) => ({ labels: { module, kind }, value }));
}

function readFailures(module: string, { failures }: ModuleCounts): Sample[] {
  return [...failures].map(([failure, value]) => ({ labels: { module, failure }, value }));
}
