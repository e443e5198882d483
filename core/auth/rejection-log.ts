import type { Log } from '../contract/index.js';
import type { RejectedToken } from './verify-jwt.js';

export interface RejectionLog {
  report(issuer: string, refused: RejectedToken): void;
}

/** Anybody can send tokens: what ops can mend is told once in this time, an issuer. Milliseconds. */
const INTERVAL_MS = 60_000;

/** Says why tokens are refused: what ops can mend as a warning, now and then, the rest at `debug`. */
export function createRejectionLog(log: Log): RejectionLog {
  const told = new Map<string, number>();
  return {
    report: (issuer, { message, isSuspicious }) => {
      const fields = { issuer, reason: message };
      const isDue =
        performance.now() - (told.get(issuer) ?? Number.NEGATIVE_INFINITY) >= INTERVAL_MS;
      if (!isSuspicious || !isDue) return log.debug(fields, 'a token was refused');
      told.set(issuer, performance.now());
      log.warn(fields, 'a token was refused for a reason that lies with its issuer or the mapping');
    },
  };
}
