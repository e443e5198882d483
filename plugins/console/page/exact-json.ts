// JSON whose numbers keep their digits. Rows have keys beyond 2^53, which JavaScript would round.

/** Matches strings, to skip their digits, and numbers whose digits a double may not keep. */
const STRING_OR_LONG_NUMBER =
  /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d{16,}(?![\d.eE])|-?\d+(?:\.\d+(?:[eE][+-]?\d+)?|[eE][+-]?\d+)|-0/g;
/** Random, so that no text of a provider is mistaken for a number. */
const MARK = crypto.getRandomValues(new Uint32Array(4)).join('-');
const MARKED = new RegExp(`"${MARK}([^"]+)"`, 'g');

/** A number that a double would write with other digits, such as 1.10. */
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

export function isLongNumber(value: unknown): boolean {
  return value instanceof LongNumber;
}

/** @throws SyntaxError like `JSON.parse`. */
export function parseJson(text: string): unknown {
  const marked = text.replace(STRING_OR_LONG_NUMBER, (token) =>
    token.startsWith('"') || String(Number(token)) === token ? token : `"${MARK}${token}"`,
  );
  if (marked === text) return JSON.parse(text);
  // The marks could hide an invalid number, such as 1.2.3e4.
  JSON.parse(text);
  return JSON.parse(marked, (_, value: unknown) =>
    typeof value === 'string' && value.startsWith(MARK)
      ? new LongNumber(value.slice(MARK.length))
      : value,
  );
}

/**
 * Parses a number. The host receives every digit, and rejects unsupported ones. @throws Error for
 * any other text.
 */
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
