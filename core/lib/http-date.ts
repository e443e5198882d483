const TIME = String.raw`(?<time>\d{2}:\d{2}:\d{2})`;
const FORMS = [
  // An IMF-fixdate: Sun, 06 Nov 1994 08:49:37 GMT
  String.raw`[A-Z][a-z]{2}, (?<day>\d{2}) (?<month>[A-Z][a-z]{2}) (?<year>\d{4}) ${TIME} GMT`,
  // Of RFC 850: Sunday, 06-Nov-94 08:49:37 GMT
  String.raw`[A-Z][a-z]{5,8}, (?<day>\d{2})-(?<month>[A-Z][a-z]{2})-(?<year>\d{2}) ${TIME} GMT`,
  // Of asctime, without its zone: Sun Nov  6 08:49:37 1994
  String.raw`[A-Z][a-z]{2} (?<month>[A-Z][a-z]{2}) (?<day>[\d ]\d) ${TIME} (?<year>\d{4})`,
].map((form) => new RegExp(`^${form}$`));

/**
 * Reads an HTTP-date, which is in UTC in each of its three forms (RFC 9110, 5.6.7).
 * @returns milliseconds since 1970; `null` for anything else
 */
export function parseHttpDate(text: string): number | null {
  for (const form of FORMS) {
    const date = form.exec(text)?.groups;
    if (date === undefined) continue;
    // Date reads a year of two digits as 1950 to 2049.
    const ms = Date.parse(`${date['day']} ${date['month']} ${date['year']} ${date['time']} GMT`);
    return Number.isNaN(ms) ? null : ms;
  }
  return null;
}

/** Writes milliseconds since 1970 as an IMF-fixdate. */
export function formatHttpDate(ms: number): string {
  return new Date(ms).toUTCString();
}
