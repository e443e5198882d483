import type { Registry } from 'prom-client';
import type { LiveModule } from '../../modules/live-module.js';
import type { CompletedRequest } from '../completed-request.js';
import type { CollectedMetric, Labels } from './collected-metric.js';
import { createHostMetrics, type ObservedHost } from './host-metrics.js';
import type { MetricsSnapshot } from './metrics-snapshot.js';
import { type DeclaredRoutes, RequestCounts } from './request-counts.js';
import { createRequestMetrics } from './request-metrics.js';

/** `Registry.contentType`, known before prom-client is loaded. */
const EXPOSITION_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

/**
 * The registry of these metrics and of prom-client's defaults, which are measured from now on. prom-client is
 * loaded on first use: it takes a tenth of a start.
 */
async function openRegistry(metrics: readonly CollectedMetric[]): Promise<Registry> {
  const { collectDefaultMetrics, Gauge, Registry } = await import('prom-client');
  const registry = new Registry();
  for (const { name, help, type, aggregator, read } of metrics) {
    // The counts of prom-client's own histograms cannot be set; a gauge can return samples of any type.
    const gauge = new Gauge({ name, help, aggregator, registers: [registry] });
    Object.assign(gauge, { get: async () => ({ name, help, type, aggregator, values: read() }) });
  }
  collectDefaultMetrics({ register: registry });
  return registry;
}

/** The metrics of one process, including prom-client's defaults. */
export class Metrics {
  /** Of the text that `render` returns. */
  readonly contentType = EXPOSITION_TYPE;
  readonly #counts = new RequestCounts();
  readonly #host: ObservedHost;
  readonly #described: CollectedMetric[];
  #registry: Promise<Registry> | null = null;

  constructor(host: ObservedHost) {
    this.#host = host;
    this.#described = [...createRequestMetrics(this.#counts), ...createHostMetrics(host)];
  }

  /** Adds metrics; call it before the first scrape. */
  add(metrics: readonly CollectedMetric[]): void {
    this.#described.push(...metrics);
  }

  /** Ignores requests that were not for a forwarded route. */
  count(completed: CompletedRequest): void {
    if (completed.facts.isPreflight) this.#counts.preflights += 1;
    if (completed.facts.isForwarded) this.#counts.count(completed);
  }

  /** The exposition format of Prometheus. */
  async render(): Promise<string> {
    return (await this.#prepareRegistry()).metrics();
  }

  /** All samples, to be merged with those of other processes. */
  async snapshot(): Promise<MetricsSnapshot> {
    const registry = await this.#prepareRegistry();
    return (await registry.getMetricsAsJSON()) as unknown as MetricsSnapshot;
  }

  /** A snapshot of exited workers without modules and routes that have been removed. */
  forgetRemoved(retired: MetricsSnapshot): MetricsSnapshot {
    const declared = this.#readDeclared();
    return retired.map((metric) => ({
      ...metric,
      values: metric.values.filter(({ labels }) => isDeclared(labels, declared)),
    }));
  }

  /** Removed modules and routes must not stay in the metrics. */
  async #prepareRegistry(): Promise<Registry> {
    this.#registry ??= openRegistry(this.#described);
    const registry = await this.#registry;
    this.#counts.keepOnly(this.#readDeclared());
    return registry;
  }

  /** The routes of each module; `null` for a module that no descriptor has. */
  #readDeclared(): (module: string) => DeclaredRoutes | null {
    const live = new Map<string, LiveModule | null>();
    for (const record of this.#host.list()) {
      if (record.live !== null) live.set(record.live.name, record.live);
      else if (record.name !== null && !live.has(record.name)) live.set(record.name, null);
    }
    return (module) => {
      const found = live.get(module);
      if (found === undefined) return null;
      return found === null ? 'any' : listRoutes(found);
    };
  }
}

function isDeclared(
  { module = '', route = '' }: Labels,
  declared: (module: string) => DeclaredRoutes | null,
): boolean {
  if (module === '') return true;
  const routes = declared(module);
  return routes !== null && (route === '' || routes === 'any' || routes.has(route));
}

function listRoutes({ manifest }: LiveModule): DeclaredRoutes {
  return new Set(manifest.http_routes.map(({ path }) => path));
}
