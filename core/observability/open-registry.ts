import type { Registry } from 'prom-client';
import { registerScraped, type ScrapedMetric } from './metrics/collected-metric.js';

/** What `Registry` says of the format that it writes: for an answer's head, before there is one. */
export const EXPOSITION_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

/**
 * The registry of these metrics and of prom-client's defaults, which are measured from now on. prom-client is
 * loaded here: it is 77 files, with those of OpenTelemetry, and a tenth of a start.
 */
export async function openRegistry(metrics: readonly ScrapedMetric[]): Promise<Registry> {
  const { collectDefaultMetrics, Registry } = await import('prom-client');
  const registry = new Registry();
  for (const metric of metrics) registerScraped(registry, metric);
  collectDefaultMetrics({ register: registry });
  return registry;
}
