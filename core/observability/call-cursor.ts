const RUN = /^([0-9a-f]{8})-(\d{1,15})$/;
const SEPARATOR = '.';

/** Where the next page of each run of calls ends, by the run: `3f9a01bc-120.77e01d2a-98`. */
export function formatCallCursor(ends: ReadonlyMap<string, number>): string {
  return [...ends].map(([run, end]) => `${run}-${end}`).join(SEPARATOR);
}

/** Empty for a text that is no cursor. */
export function parseCallCursor(cursor: string): ReadonlyMap<string, number> {
  const ends = new Map<string, number>();
  for (const text of cursor.split(SEPARATOR)) {
    const [, run, digits] = RUN.exec(text) ?? [];
    if (run === undefined) return new Map();
    ends.set(run, Number(digits));
  }
  return ends;
}
