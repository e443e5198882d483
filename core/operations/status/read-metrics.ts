import { createToken } from '../../injection.js';
import { Reply } from '../reply.js';
import { defineResource } from '../resource.js';

export const METRICS = createToken<MetricsSource>('metrics');

export interface MetricsSource {
  readonly contentType: string;
  render(): Promise<string>;
}

export const METRICS_TEXT = defineResource({
  text: '[metrics](metrics.md) in the Prometheus text format',
  needs: [METRICS],
  answer: async ({ authorization }, metrics) =>
    Reply.ok(authorization, [Buffer.from(await metrics.render())], metrics.contentType),
});
