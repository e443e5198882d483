// JSON whose numbers keep their digits. Rows have keys beyond 2^53, which JavaScript would round.

/** Strings, so that their digits are skipped, and numbers that a double may not hold. */
const STRING_OR_LONG_NUMBER =
  /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d[\d.]{15,}(?:[eE][+-]?\d+)?|-?\d[\d.]*[eE][+-]?\d+/g;
/** Random, so that no text of a provider is taken for a number. */
const MARK = crypto.getRandomValues(new Uint32Array(4)).join('-');
const MARKED = new RegExp(`"${MARK}([^"]+)"`, 'g');

/** A number that a double may not hold, in its digits. */
class LongNumber {
  readonly #digits: string;

  constructor(digits: string) {
    this.#digits = digits;
  }

  toString(): string {
    return this.#digits;
  }

  toJSON(): string {
    return MARK + this.#digits;
  }
}

/** @throws SyntaxError as `JSON.parse` does. */
export function parseJson(text: string): unknown {
  const marked = text.replace(STRING_OR_LONG_NUMBER, (token) =>
    token.startsWith('"') || String(Number(token)) === token ? token : `"${MARK}${token}"`,
  );
  if (marked === text) return JSON.parse(text);
  // Marked text would hide a number that is not valid JSON, such as 1.2.3e4.
  JSON.parse(text);
  return JSON.parse(marked, (_, value: unknown) =>
    typeof value === 'string' && value.startsWith(MARK)
      ? new LongNumber(value.slice(MARK.length))
      : value,
  );
}

/** @throws Error for what is not a number. The host gets every digit, and rejects what it cannot keep. */
export function parseNumber(text: string): unknown {
  const trimmed = text.trim();
  if (!/^-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?$/.test(trimmed)) throw new Error('expected a number');
  return parseJson(trimmed.replace(/^(-?)0+(?=\d)/, '$1'));
}

export function formatJson(value: unknown, indent?: number): string {
  return (
    JSON.stringify(value, null, indent)?.replaceAll(MARKED, (_, digits: string) => digits) ?? ''
  );
}
