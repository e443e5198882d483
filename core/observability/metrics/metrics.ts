import type { Registry } from 'prom-client';
import type { LiveModule } from '../../modules/live-module.js';
import type { CompletedRequest } from '../completed-request.js';
import { type CollectedMetric, type Labels, registerCollected } from './collected-metric.js';
import type { MetricsSnapshot } from './metrics-snapshot.js';
import { describeHostMetrics, type ObservedHost } from './module-metrics.js';
import { type DeclaredRoutes, RequestCounts } from './request-counts.js';
import { describeRequestMetrics } from './request-metrics.js';

/** What `Registry` says of the format that it writes: for an answer's head, before there is one. */
export const EXPOSITION_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

/**
 * The registry of these metrics and of prom-client's defaults, which are measured from now on. prom-client is
 * loaded here: it is 77 files, with those of OpenTelemetry, and a tenth of a start.
 */
export async function openRegistry(metrics: readonly CollectedMetric[]): Promise<Registry> {
  const { collectDefaultMetrics, Registry } = await import('prom-client');
  const registry = new Registry();
  for (const metric of metrics) registerCollected(registry, metric);
  collectDefaultMetrics({ register: registry });
  return registry;
}

/** The metrics of one process (contract 9), prom-client's defaults among them. */
export class Metrics {
  /** Of the text that `render` makes. */
  readonly contentType = EXPOSITION_TYPE;
  readonly #counts = new RequestCounts();
  readonly #host: ObservedHost;
  readonly #described: CollectedMetric[];
  #registry: Promise<Registry> | null = null;

  constructor(host: ObservedHost) {
    this.#host = host;
    this.#described = [...describeRequestMetrics(this.#counts), ...describeHostMetrics(host)];
  }

  /** Shows these too. Before the first scrape. */
  add(metrics: readonly CollectedMetric[]): void {
    this.#described.push(...metrics);
  }

  /** Counts a forwarded request; any other is none of ours. */
  count(ended: CompletedRequest): void {
    if (ended.trace.isForwarded) this.#counts.count(ended);
  }

  /** The exposition format of Prometheus. */
  async render(): Promise<string> {
    const registry = await this.#openRegistry();
    this.#counts.keepOnly(this.#readDeclared());
    return registry.metrics();
  }

  /** The same, to be merged with that of other processes. */
  async snapshot(): Promise<MetricsSnapshot> {
    const registry = await this.#openRegistry();
    this.#counts.keepOnly(this.#readDeclared());
    return (await registry.getMetricsAsJSON()) as unknown as MetricsSnapshot;
  }

  /** A snapshot of earlier processes without what nobody configures any more. */
  forgetRemoved(departed: MetricsSnapshot): MetricsSnapshot {
    const declared = this.#readDeclared();
    return departed.map((metric) => ({
      ...metric,
      values: metric.values.filter(({ labels }) => isDeclared(labels, declared)),
    }));
  }

  #openRegistry(): Promise<Registry> {
    this.#registry ??= openRegistry(this.#described);
    return this.#registry;
  }

  /** What nobody configures any more must not stand in the metrics for ever. */
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
