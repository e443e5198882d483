import { type CollectedMetric, readCounts } from './collected-metric.js';

/** Counts the tokens of others that callers of `GET /explain` have sent, by result. */
export function createTokenLookupMetric(owners: {
  readonly counts: Readonly<Record<string, number>>;
}): CollectedMetric {
  return {
    name: 'modgate_explain_as_total',
    help: 'Tokens of other callers that GET /explain looked up, by result.',
    type: 'counter',
    aggregator: 'sum',
    read: () => readCounts('result', owners.counts),
  };
}
