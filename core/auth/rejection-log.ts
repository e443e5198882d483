import type { Log } from '../contract/index.js';
import type { RefusedToken } from './verify-jwt.js';

export interface TroubleLog {
  report(issuer: string, refused: RefusedToken): void;
}

/** Anybody can send tokens: what ops can mend is told once in this time, an issuer. Milliseconds. */
const INTERVAL_MS = 60_000;

/** Says why tokens are refused: what ops can mend as a warning, now and then, the rest at `debug`. */
export function createTroubleLog(log: Log): TroubleLog {
  const told = new Map<string, number>();
  return {
    report: (issuer, { message, isTrouble }) => {
      const fields = { issuer, reason: message };
      const isDue =
        performance.now() - (told.get(issuer) ?? Number.NEGATIVE_INFINITY) >= INTERVAL_MS;
      if (!isTrouble || !isDue) return log.debug(fields, 'a token was refused');
      told.set(issuer, performance.now());
      log.warn(fields, 'a token was refused for a reason that lies with its issuer or the mapping');
    },
  };
}
