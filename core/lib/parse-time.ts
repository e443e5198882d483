// RFC 3339 with a zone: without one the time depends on the machine.
const TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?:Z|[+-]\d{2}:\d{2})$/i;

/** Milliseconds since 1970; NaN for a text other than a time with a zone. */
export function parseTime(text: string): number {
  return TIME.test(text) ? Date.parse(text) : Number.NaN;
}
