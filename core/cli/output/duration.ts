import { ConfigError } from '../../errors.js';

const UNITS_MS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 };
const DURATION = /^(\d{1,7}(?:\.\d{1,3})?)(ms|s|m|h)$/;

/**
 * Parses `500ms`, `10s`, `1.5m` or `1h` to milliseconds.
 * @throws ConfigError that names the source.
 */
export function parseDuration(text: string, source: string): number {
  const [, number = '', unit = ''] = DURATION.exec(text) ?? [];
  const unitMs = UNITS_MS[unit];
  if (unitMs === undefined) {
    throw new ConfigError(`${source} must be a duration, such as 10s, 500ms or 2m`);
  }
  return Number(number) * unitMs;
}

const AGE_UNITS = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['m', 60_000],
] as const;

/** `12s`, `3m`, `5h` or `2d`, rounded down; `-` for NaN. */
export function formatAge(ms: number): string {
  if (Number.isNaN(ms)) return '-';
  for (const [unit, unitMs] of AGE_UNITS) {
    if (ms >= unitMs) return `${Math.floor(ms / unitMs)}${unit}`;
  }
  return `${Math.max(0, Math.floor(ms / 1000))}s`;
}
