import type { Registry } from 'prom-client';
import type { CountedMetric } from '../../provider/adapter-counters.js';
import { type MetricSample, registerCollected } from './collected-metric.js';
import type { ObservedHost } from './host-metrics.js';

/** Of a process. Names come from the code of adapters, of which a host has few. */
const MAX_METRICS = 256;

type ObservedModules = Pick<ObservedHost, 'list'>;

/** Adds the counters that adapters have opened since the last scrape; names of the host's own stay its own. */
export function registerAdapterMetrics(
  client: typeof import('prom-client'),
  registry: Registry,
  host: ObservedModules,
): void {
  const found = new Map(listCounted(host).map(([, { metric, help }]) => [metric, help]));
  for (const [name, help] of [...found].slice(0, MAX_METRICS)) {
    if (registry.getSingleMetric(name) !== undefined) continue;
    const read = () => readSamples(host, name);
    const labelNames = ['module'];
    registerCollected(client, registry, { name, help, type: 'counter', labelNames, read });
  }
}

function listCounted(host: ObservedModules): (readonly [module: string, CountedMetric])[] {
  return host.list().flatMap(({ live }) => {
    if (live === null) return [];
    return [...live.client.adapterCounters.list()].map((counted) => [live.name, counted] as const);
  });
}

function readSamples(host: ObservedModules, name: string): MetricSample[] {
  return listCounted(host).flatMap(([module, { metric, value }]) =>
    metric === name ? [[{ module }, value]] : [],
  );
}
