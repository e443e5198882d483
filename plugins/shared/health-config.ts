import { object } from 'superstruct';
import type { HealthChecks } from '../../core/contract/index.js';
import { described, matching, named, optionally } from '../../core/contract/index.js';
import { integerBetween } from './integer-between.js';

export const HEALTH_DEFAULTS: HealthChecks = {
  intervalMs: 5_000,
  timeoutMs: 1_000,
  failures: 2,
  successes: 1,
};

const ORIGIN_FORM = /^\/[!-"$-~]*$/;

/** An origin-form target: path and query, without a fragment. */
export const requestPath = named(
  'requestPath',
  matching('path that starts with a slash, of visible ASCII without a fragment', ORIGIN_FORM),
);

/** Without `health` the host runs no checks. Times in milliseconds. */
export const health = named(
  'health',
  described(
    object({
      path: optionally(requestPath, { description: 'Target of GET. Default: only a connection.' }),
      interval_ms: optionally(integerBetween(100, 3_600_000), {
        default: HEALTH_DEFAULTS.intervalMs,
        description: 'From the start of one check to the start of the next. Milliseconds.',
      }),
      timeout_ms: optionally(integerBetween(10, 60_000), {
        default: HEALTH_DEFAULTS.timeoutMs,
        description: 'Time for one check. Milliseconds.',
      }),
      failures: optionally(integerBetween(1, 100), {
        default: HEALTH_DEFAULTS.failures,
        description: 'Failed checks in a row after which an endpoint gets no calls.',
      }),
      successes: optionally(integerBetween(1, 100), {
        default: HEALTH_DEFAULTS.successes,
        description: 'Passed checks in a row after which it gets calls again.',
      }),
    }),
    { description: 'Active checks of each endpoint; none without it.' },
  ),
);
