import type { Registry } from 'prom-client';
import type { LiveModule } from '../../modules/live-module.js';
import { registerAdapterMetrics } from './adapter-metrics.js';
import { type CollectedMetric, type Labels, registerCollected } from './collected-metric.js';
import { createHostMetrics, type ObservedHost } from './host-metrics.js';
import type { MetricsSnapshot } from './metrics-snapshot.js';
import { RequestCounts } from './request-counts.js';
import { createRequestMetrics, readRequestHistograms } from './request-metrics.js';

/** `Registry.contentType`, known before prom-client is loaded. */
const EXPOSITION_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

/** Gauges of prom-client whose names are those of counters; each is the sum of another metric. */
const SUMS = ['handles', 'requests', 'resources'].map((kind) => `nodejs_active_${kind}_total`);

/**
 * The registry of these metrics and of prom-client's defaults, which are measured from now on. prom-client is
 * loaded on first use: it takes a tenth of a start.
 */
async function openRegistry(metrics: readonly CollectedMetric[]): Promise<Registry> {
  const client = await import('prom-client');
  const registry = new client.Registry();
  for (const metric of metrics) registerCollected(client, registry, metric);
  client.collectDefaultMetrics({ register: registry });
  for (const name of SUMS) registry.removeSingleMetric(name);
  return registry;
}

/** The metrics of one process, including prom-client's defaults. */
export class Metrics {
  /** The media type of the text that `render` returns. */
  readonly contentType = EXPOSITION_TYPE;
  readonly requests = new RequestCounts();
  readonly #host: ObservedHost;
  readonly #collected: CollectedMetric[];
  #registry: Promise<Registry> | null = null;

  constructor(host: ObservedHost) {
    this.#host = host;
    this.#collected = [...createRequestMetrics(this.requests), ...createHostMetrics(host)];
  }

  /** Adds metrics; call it before the first scrape. */
  add(metrics: readonly CollectedMetric[]): void {
    this.#collected.push(...metrics);
  }

  /** Renders the exposition format of Prometheus. */
  async render(): Promise<string> {
    const snapshot = await this.snapshot();
    // Imported on first use, as it imports prom-client.
    const { renderSnapshots } = await import('./metrics-snapshot.js');
    return renderSnapshots([snapshot]);
  }

  /** Returns all samples, to be merged with those of other processes. */
  async snapshot(): Promise<MetricsSnapshot> {
    this.#registry ??= openRegistry(this.#collected);
    const registry = await this.#registry;
    registerAdapterMetrics(await import('prom-client'), registry, this.#host);
    // Removed modules and routes must not remain in the metrics.
    this.requests.keepOnly(readDeclared(this.#host));
    const collected = (await registry.getMetricsAsJSON()) as unknown as MetricsSnapshot;
    return [...readRequestHistograms(this.requests), ...collected];
  }

  /** Returns a snapshot of exited workers without removed modules and routes. */
  forgetRemoved(retired: MetricsSnapshot): MetricsSnapshot {
    const isDeclared = readDeclared(this.#host);
    return retired.map((metric) => ({
      ...metric,
      values: metric.values.filter(({ labels }) => isDeclared(labels)),
    }));
  }
}

/**
 * Labels without a module count as declared; so do all routes of a module that is currently not
 * served.
 */
function readDeclared(host: ObservedHost): (labels: Labels) => boolean {
  const routes = new Map<string, ReadonlySet<string> | null>();
  for (const { name, live } of host.list()) {
    if (live !== null) routes.set(live.name, listRoutes(live));
    else if (name !== null && !routes.has(name)) routes.set(name, null);
  }
  return ({ module = '', route = '' }) => {
    if (module === '') return true;
    const declared = routes.get(module);
    return declared !== undefined && (route === '' || declared === null || declared.has(route));
  };
}

function listRoutes({ manifest }: LiveModule): ReadonlySet<string> {
  return new Set(manifest.http_routes.map(({ path }) => path));
}
