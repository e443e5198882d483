/** Matches strings, to skip their digits, and integers with more digits than a double has. */
const STRING_OR_LONG_INTEGER = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d{16,}(?![\d.eE])/g;
const LONG_INTEGER = /\d{16}/;

/** The largest integers of 64 bits, by the double that stands for them: the integer behind them. */
const LARGEST: ReadonlyMap<bigint, bigint> = new Map(
  [63n, 64n].map((bits) => [2n ** bits, 2n ** bits - 1n]),
);

/**
 * Writes each long integer in a text of `JSON.stringify` with its own digits instead of zeros, so
 * that it is in the range of its type: 9223372036854775807 instead of 9223372036854776000.
 */
export function writeLongIntegers(json: string): string {
  if (!LONG_INTEGER.test(json)) return json;
  return json.replace(STRING_OR_LONG_INTEGER, (token) => {
    if (token.startsWith('"')) return token;
    const exact = BigInt(Number(token));
    return String(LARGEST.get(exact) ?? exact);
  });
}
