import { injectable } from 'tsyringe';
import type { Actor } from '../contract/index.js';
import { inject, METRICS } from '../tokens.js';
import { authoriseScope } from './authorise.js';

export interface MetricsSource {
  readonly contentType: string;
  render(): Promise<string>;
}

/** `GET /metrics` (contract 7 and 9): text, not JSON, as Prometheus wants it. */
@injectable()
export class ReadMetrics {
  readonly #metrics: MetricsSource;

  constructor(@inject(METRICS) metrics: MetricsSource) {
    this.#metrics = metrics;
  }

  get contentType(): string {
    return this.#metrics.contentType;
  }

  /** @param actor `null` where everybody may read them: on a host that listens on loopback only */
  async execute(actor: Actor | null): Promise<Buffer> {
    if (actor !== null) authoriseScope(actor, 'modgate.metrics.read');
    return Buffer.from(await this.#metrics.render());
  }
}
