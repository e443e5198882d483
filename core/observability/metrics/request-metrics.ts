import type { CollectedMetric, Labels, MetricSample } from './collected-metric.js';
import type { SnapshotMetric } from './metrics-snapshot.js';
import type {
  HistogramSample,
  ModuleRequestCounts,
  RequestCounts,
  RouteCounts,
} from './request-counts.js';

export function createRequestMetrics(counts: RequestCounts): CollectedMetric[] {
  return [
    {
      name: 'modgate_requests_total',
      help: 'Completed forwarded requests.',
      type: 'counter',
      labelNames: ['module', 'method', 'route', 'status'],
      read: () => readRoutes(counts, readStatuses),
    },
    {
      name: 'modgate_schema_violations_total',
      help: 'Forwarded requests and responses that violated a schema of their route.',
      type: 'counter',
      labelNames: ['module', 'route', 'direction'],
      read: () => readRoutes(counts, readViolations),
    },
    {
      name: 'modgate_cache_total',
      help: 'Forwarded requests to routes with a cache, by what the cache did.',
      type: 'counter',
      labelNames: ['module', 'route', 'result'],
      read: () =>
        readRoutes(counts, (labels, { byCacheResult }) =>
          [...byCacheResult].map(([result, value]) => [{ ...labels, result }, value]),
        ),
    },
    {
      name: 'modgate_failures_total',
      help: 'Failed forwarded requests by failure.',
      type: 'counter',
      labelNames: ['module', 'failure'],
      read: () =>
        readModules(counts, (module, { failures }) =>
          [...failures].map(([failure, value]) => [{ module, failure }, value]),
        ),
    },
    {
      name: 'modgate_callers_rejected_total',
      help: 'Forwarded requests of actors of a kind that the module is not open to.',
      type: 'counter',
      labelNames: ['module', 'kind'],
      read: () =>
        readModules(counts, (module, { rejectedCallers }) =>
          [...rejectedCallers].map(([kind, value]) => [{ module, kind }, value]),
        ),
    },
    {
      name: 'modgate_preflights_total',
      help: 'Answered preflights of configured origins.',
      type: 'counter',
      read: () => counts.preflights,
    },
    {
      name: 'modgate_retries_total',
      help: 'Retries of forwarded requests.',
      type: 'counter',
      labelNames: ['module'],
      read: () =>
        readModules(counts, (module, { retries }) =>
          module === '' ? [] : [[{ module }, retries]],
        ),
    },
    {
      name: 'modgate_surface_requests_total',
      help: 'Requests to surfaces.',
      type: 'counter',
      labelNames: ['surface', 'status'],
      read: () =>
        [...counts.bySurface].flatMap(([surface, { byStatus }]) =>
          [...byStatus].map(
            ([status, value]): MetricSample => [{ surface, status: `${status}` }, value],
          ),
        ),
    },
  ];
}

export function readRequestHistograms(counts: RequestCounts): SnapshotMetric[] {
  const histogram = (name: string, help: string, read: (name: string) => HistogramSample[]) => ({
    ...{ name, help, type: 'histogram', aggregator: 'sum' },
    values: read(name),
  });
  const readDurations = (pick: 'host' | 'provider') => (name: string) =>
    readRoutes(counts, (labels, route) => route[pick].read(name, labels));
  return [
    histogram(
      'modgate_host_duration_seconds',
      'Duration of a forwarded request without the time of the provider.',
      readDurations('host'),
    ),
    histogram(
      'modgate_provider_duration_seconds',
      'Time of the provider for a forwarded request, over all attempts.',
      readDurations('provider'),
    ),
    histogram(
      'modgate_surface_duration_seconds',
      'Time until a surface began its response.',
      (name) =>
        [...counts.bySurface].flatMap(([surface, { duration }]) =>
          duration.read(name, { surface }),
        ),
    ),
  ];
}

function readModules<T>(
  counts: RequestCounts,
  read: (module: string, counts: ModuleRequestCounts) => T[],
): T[] {
  return [...counts.modules()].flatMap(([module, ofModule]) => read(module, ofModule));
}

function readRoutes<T>(
  counts: RequestCounts,
  read: (labels: Labels, counts: RouteCounts) => T[],
): T[] {
  return readModules(counts, (module, { byRoute }) =>
    [...byRoute].flatMap(([route, ofRoute]) => read({ module, route }, ofRoute)),
  );
}

function readStatuses(
  { module = '', route = '' }: Labels,
  { byMethod }: RouteCounts,
): MetricSample[] {
  return [...byMethod].flatMap(([method, byStatus]) =>
    [...byStatus].map(
      ([status, value]): MetricSample => [{ module, method, route, status: String(status) }, value],
    ),
  );
}

function readViolations(labels: Labels, { violations }: RouteCounts): MetricSample[] {
  return Object.entries(violations).flatMap(([direction, value]): MetricSample[] =>
    value === 0 ? [] : [[{ ...labels, direction }, value]],
  );
}
