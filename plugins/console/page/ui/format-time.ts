/** Includes the time zone, because readers of the same table may be in different zones. */
const ZONE = { timeZoneName: 'short' } as const;

/** Date, time and zone. */
export function formatTime(at: string | number | Date): string {
  return new Date(at).toLocaleString(undefined, ZONE);
}

/** Time and zone. */
export function formatClock(at: string | number): string {
  return new Date(at).toLocaleTimeString(undefined, ZONE);
}

/**
 * From nanoseconds to seconds: the smallest number of the unit, which is a time after 1973, and the
 * divisor that makes milliseconds of it.
 */
const UNITS = [
  [1e17, 1e6],
  [1e14, 1e3],
  [1e11, 1],
  [0, 1e-3],
] as const;
/** A shorter text of digits may be a year. */
const NUMBER = /^-?\d{9,}(?:\.\d+)?$/;

const ZONED = /\d[^a-z]*(?:[+-]\d\d:?\d\d|z|utc|gmt)$/i;

/**
 * Reads a time that a provider sent: a text that names its zone, or a number that counts from 1970
 * in a unit that its size shows. Returns `null` for any other value: the browser would read a text
 * without a zone as a time in its own zone.
 */
export function toTime(value: string | number): Date | null {
  const isNumber = typeof value === 'number' || NUMBER.test(value);
  if (!isNumber && !ZONED.test(value)) return null;
  const time = new Date(isNumber ? toMilliseconds(Number(value)) : value);
  return Number.isNaN(time.getTime()) ? null : time;
}

function toMilliseconds(value: number): number {
  const [, divisor] = UNITS.find(([least]) => Math.abs(value) >= least) ?? [0, 1];
  return value / divisor;
}
