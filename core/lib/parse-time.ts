// RFC 3339 with a zone: without one the time depends on the machine.
const TIME =
  /^(\d{4}-\d{2}-\d{2})T(?:[01]\d|2[0-3]):\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?:Z|[+-]\d{2}:\d{2})$/i;

/** Milliseconds since 1970; NaN for anything but a time with a zone, on a day that exists. */
export function parseTime(text: string): number {
  const [, day = ''] = TIME.exec(text) ?? [];
  return isDay(day) ? Date.parse(text) : Number.NaN;
}

/**
 * Whether the day exists. Date reads February 30 as March 2, so the day is compared with the
 * result.
 * @param text a date such as `2026-01-31`
 */
export function isDay(text: string): boolean {
  const read = new Date(`${text}T00:00:00Z`);
  return !Number.isNaN(read.getTime()) && read.toISOString().startsWith(text);
}
