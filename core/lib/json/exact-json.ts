import { randomUUID } from 'node:crypto';

/** Matches strings, to skip their digits, and numbers that may exceed a double. */
const STRING_OR_LONG_NUMBER =
  /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d[\d.]{15,}(?:[eE][+-]?\d+)?|-?\d[\d.]*[eE][+-]?\d+/g;

/** JSON whose numbers keep their digits: numbers that may exceed a double become marked texts. */
export class ExactJson {
  // Random, so that no text of a client is mistaken for a number.
  readonly #mark = randomUUID();

  /** Parses a text that must be valid JSON. */
  parse(json: string): unknown {
    return JSON.parse(
      json.replace(STRING_OR_LONG_NUMBER, (token) =>
        token.startsWith('"') ? token : `"${this.#mark}${token}"`,
      ),
    );
  }

  /** The digits of a number that became a marked text; `null` for any other value. */
  readDigits(value: unknown): string | null {
    const isMarked = typeof value === 'string' && value.startsWith(this.#mark);
    return isMarked ? value.slice(this.#mark.length) : null;
  }

  stringify(value: unknown): string {
    return JSON.stringify(value).replaceAll(
      new RegExp(`"${this.#mark}([^"]+)"`, 'g'),
      (_, digits: string) => digits,
    );
  }
}
