import { randomUUID } from 'node:crypto';

/** Strings, so that their digits are skipped, and numbers that a double may not hold. */
const STRING_OR_LONG_NUMBER =
  /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d[\d.]{15,}(?:[eE][+-]?\d+)?|-?\d[\d.]*[eE][+-]?\d+/g;

/** JSON whose numbers keep their digits: those that a double may not hold are marked text in between. */
export class ExactJson {
  // Random, so that no text of a client is taken for a number.
  readonly #mark = randomUUID();

  /** The text must be known to be JSON. */
  parse(json: string): unknown {
    return JSON.parse(
      json.replace(STRING_OR_LONG_NUMBER, (token) =>
        token.startsWith('"') ? token : `"${this.#mark}${token}"`,
      ),
    );
  }

  /** The digits of a number that is marked text; `null` for any other value. */
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
