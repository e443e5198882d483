import { collectDefaultMetrics, Registry } from 'prom-client';
import type { LiveModule } from '../host/live-module.js';
import type { EndedRequest } from './ended-request.js';
import { EventLoopMetric } from './event-loop-metric.js';
import { describeHostMetrics, type ObservedHost } from './host-metrics.js';
import { type DeclaredRoutes, RequestCounts } from './request-counts.js';
import { describeRequestMetrics } from './request-metrics.js';
import { registerScraped, type ScrapedMetric } from './scraped-metric.js';

/** The metrics of one process (contract 9), prom-client's defaults among them. */
export class Metrics {
  readonly #registry = new Registry();
  readonly #counts = new RequestCounts();
  readonly #eventLoop = new EventLoopMetric();
  readonly #host: ObservedHost;

  constructor(host: ObservedHost) {
    this.#host = host;
    const described = [...describeRequestMetrics(this.#counts), ...describeHostMetrics(host)];
    this.add([...described, this.#eventLoop]);
    collectDefaultMetrics({ register: this.#registry });
  }

  /** Shows these too. */
  add(metrics: readonly ScrapedMetric[]): void {
    for (const metric of metrics) registerScraped(this.#registry, metric);
  }

  /** Of the text that `render` makes. */
  get contentType(): string {
    return this.#registry.contentType;
  }

  /** Counts a forwarded request; any other is none of ours. */
  count(ended: EndedRequest): void {
    if (ended.trace.isForwarded) this.#counts.count(ended);
  }

  /** The exposition format of Prometheus. */
  render(): Promise<string> {
    this.#forgetRemoved();
    return this.#registry.metrics();
  }

  close(): void {
    this.#eventLoop.close();
  }

  /** What nobody configures any more must not stand in the metrics for ever. */
  #forgetRemoved(): void {
    const live = new Map<string, LiveModule | null>();
    for (const record of this.#host.list()) {
      if (record.live !== null) live.set(record.live.name, record.live);
      else if (record.name !== null && !live.has(record.name)) live.set(record.name, null);
    }
    this.#counts.keepOnly((module) => {
      const found = live.get(module);
      if (found === undefined) return null;
      return found === null ? 'any' : listRoutes(found);
    });
  }
}

function listRoutes({ manifest }: LiveModule): DeclaredRoutes {
  return new Set(manifest.http_routes.map(({ path }) => path));
}
