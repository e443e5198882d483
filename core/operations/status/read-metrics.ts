import type { Actor } from '../../contract/index.js';
import { createToken, injectable } from '../../injection.js';
import { authorize } from '../authorization.js';
import { Reply } from '../reply.js';

export const METRICS = createToken<MetricsSource>('metrics');

const REQUIREMENT = { kind: 'scope', scope: 'modgate.metrics.read' } as const;

export interface MetricsSource {
  readonly contentType: string;
  render(): Promise<string>;
}

/** Handles `GET /metrics`, in the text format of Prometheus. */
@injectable(METRICS)
export class ReadMetrics {
  readonly #metrics: MetricsSource;

  constructor(metrics: MetricsSource) {
    this.#metrics = metrics;
  }

  /** @param actor `null` if no authentication is required */
  async execute(actor: Actor | null): Promise<Reply> {
    const authorization = authorize(actor, actor === null ? { kind: 'public' } : REQUIREMENT);
    const text = Buffer.from(await this.#metrics.render());
    return Reply.ok(authorization, [text], this.#metrics.contentType);
  }
}
