import type { Log } from '../contract/index.js';

/** The log, with these fields before those of each line; a line may say otherwise. */
export function withFields(log: Log, added: Readonly<Record<string, unknown>>): Log {
  return {
    debug: (fields, message) => log.debug({ ...added, ...fields }, message),
    info: (fields, message) => log.info({ ...added, ...fields }, message),
    warn: (fields, message) => log.warn({ ...added, ...fields }, message),
    error: (fields, message) => log.error({ ...added, ...fields }, message),
  };
}
