import { randomUUID } from 'node:crypto';

/** Matches strings, to skip their digits, and numbers that a double may round. */
const STRING_OR_LONG_NUMBER = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d[\d.]{15,}(?:[eE][+-]?\d+)?/g;
const LONG_NUMBER = /\d[\d.]{15}/;

/** JSON whose long numbers keep their digits: each becomes a marked text. */
export interface ExactValue {
  readonly value: unknown;
  /** The prefix of such texts; `null` if there are none. Random, so that no text of a client has it. */
  readonly mark: string | null;
}

/** Parses a text that must be valid JSON. */
export function parseExactly(json: string): ExactValue {
  if (!LONG_NUMBER.test(json)) return { value: JSON.parse(json), mark: null };
  const mark = randomUUID();
  const marked = json.replace(STRING_OR_LONG_NUMBER, (token) =>
    token.startsWith('"') ? token : `"${mark}${token}"`,
  );
  return { value: JSON.parse(marked), mark };
}
