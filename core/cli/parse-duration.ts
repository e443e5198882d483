import { ConfigError } from '../errors.js';
import { parseTime } from '../lib/parse-time.js';

const UNITS_MS: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};
const DURATION = /^(\d{1,7}(?:\.\d{1,3})?)(ms|s|m|h|d)$/;
const DATE = /^\d{4}-\d{2}-\d{2}$/;

/** The milliseconds of `500ms`, `10s`, `1.5m`, `1h` or `90d`; NaN for any other text. */
export function parseDuration(text: string): number {
  const [, number = '', unit = ''] = DURATION.exec(text) ?? [];
  return Number(number) * (UNITS_MS[unit] ?? Number.NaN);
}

/**
 * Parses a duration before now, a date in UTC or a time with a zone.
 * @throws ConfigError for any other text.
 */
export function parseSince(text: string): (now: number) => Date {
  const ms = parseDuration(text);
  if (ms >= 0) return (now) => new Date(now - ms);
  const time = parseTime(DATE.test(text) ? `${text}T00:00Z` : text);
  if (!Number.isNaN(time)) return () => new Date(time);
  throw new ConfigError(
    '--since must be a duration such as 10m, a date (UTC) or a time with a zone, such as 2026-01-31T12:00:00Z',
  );
}
