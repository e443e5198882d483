import type { RateStatus } from '../provider/rate-limits.js';

const MS_PER_SECOND = 1000;

/**
 * `ratelimit` and `ratelimit-policy` (draft-ietf-httpapi-ratelimit-headers-10): what is left of each limit, and what
 * each limit is. The quota of a policy is the burst, its window the time in which an empty bucket fills up.
 */
export function createRateHeaders(limits: readonly RateStatus[]): readonly string[] {
  const left = limits.map(({ name, remaining, resetMs }) => {
    return `"${name}";r=${remaining};t=${toSeconds(resetMs)}`;
  });
  const policies = limits.map(({ name, limits: { burst, perSecond } }) => {
    const windowMs = (burst / perSecond) * MS_PER_SECOND;
    return `"${name}";q=${burst};w=${Math.max(1, toSeconds(windowMs))}`;
  });
  return ['ratelimit', left.join(', '), 'ratelimit-policy', policies.join(', ')];
}

function toSeconds(ms: number): number {
  return Math.ceil(ms / MS_PER_SECOND);
}
