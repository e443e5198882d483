import { randomUUID } from 'node:crypto';

/** Matches strings, to skip their digits, and whole numbers. */
const STRING_OR_NUMBER = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;
/** A number with so many digits may be rounded by a double. */
const LONG_NUMBER = /\d[\d.]{15}/;
/** Such a number outside of strings, or what looks like one within. */
const BARE_LONG_NUMBER = /(?:^|[\s:,[-])\d[\d.]{15}/;
const BYTE_ORDER_MARK = '\ufeff';

/** As deep as the library reads messages. */
const MAX_DEPTH = 100;
/** Objects, arrays and values of a body: about 50 ms of work for the codec. */
const MAX_VALUES = 20_000;

/** JSON whose long numbers keep their digits: each becomes a marked text. */
export interface ExactValue {
  readonly value: unknown;
  /** The prefix of such texts; `null` if there are none. Random, so that no text of a client has it. */
  readonly mark: string | null;
}

/**
 * Parses a text.
 * @throws Error for one that is not JSON.
 */
export function parseExactly(text: string): ExactValue {
  const json = text.startsWith(BYTE_ORDER_MARK) ? text.slice(1) : text;
  if (!BARE_LONG_NUMBER.test(json)) return { value: JSON.parse(json), mark: null };
  const mark = randomUUID();
  const marked = json.replace(STRING_OR_NUMBER, (token) =>
    token.startsWith('"') || !LONG_NUMBER.test(token) ? token : `"${mark}${token}"`,
  );
  return { value: JSON.parse(marked), mark };
}

/** Why the codec should not read a value; `null` for one within the bounds. */
export function findExcess(value: unknown): string | null {
  let level: unknown[] = [value];
  let count = 0;
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > MAX_DEPTH) return `must not be nested beyond ${MAX_DEPTH} levels`;
    count += level.length;
    if (count > MAX_VALUES) return `must have at most ${MAX_VALUES} values`;
    const next: unknown[] = [];
    for (const each of level) {
      if (typeof each === 'object' && each !== null) {
        for (const item of Object.values(each)) next.push(item);
      }
    }
    level = next;
  }
  return null;
}
