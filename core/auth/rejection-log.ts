import type { Log } from '../contract/index.js';
import type { RejectedToken } from './rejected-token.js';

export interface RejectionLog {
  report(issuer: string, rejected: RejectedToken): void;
}

/** Anyone can send tokens, so warnings are limited to one per issuer in this time. Milliseconds. */
const WARN_INTERVAL_MS = 60_000;

/**
 * Logs rejected tokens: at `warn` if the issuer or the mapping may be wrong, otherwise at `debug`.
 */
export function createRejectionLog(log: Log): RejectionLog {
  const warnedAt = new Map<string, number>();
  return {
    report: (issuer, { message, isSuspicious }) => {
      const fields = { issuer, reason: message };
      const now = performance.now();
      const isDue = now - (warnedAt.get(issuer) ?? Number.NEGATIVE_INFINITY) >= WARN_INTERVAL_MS;
      if (!isSuspicious || !isDue) return log.debug(fields, 'token rejected');
      warnedAt.set(issuer, now);
      log.warn(fields, 'token rejected: check its issuer and the mapping of its claims');
    },
  };
}
