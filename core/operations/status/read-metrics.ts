import type { Actor } from '../../contract/index.js';
import { createToken, inject, injectable } from '../../injection.js';
import { authorize } from '../authorization.js';
import { Answer } from '../handler.js';

export const METRICS = createToken<MetricsSource>('metrics');

const REQUIREMENT = { kind: 'scope', scope: 'modgate.metrics.read' } as const;

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
  async execute(actor: Actor | null): Promise<Answer> {
    const authorization = authorize(actor, actor === null ? { kind: 'public' } : REQUIREMENT);
    return Answer.ofText(authorization, await this.#metrics.render());
  }
}
