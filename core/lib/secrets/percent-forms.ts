/** How often a text may be percent-encoded. */
export const ENCODINGS = 2;
/** How long a character is then: `%25%34%31`. */
export const ENCODED_LENGTH = 3 ** ENCODINGS;

const ENCODED = /%[0-9a-f]{2}/i;
const PERCENT = 0x25;
/** The value of each hexadecimal digit, by its code. */
const DIGITS = new Map(
  [...'0123456789abcdef'].flatMap((digit, value) => [
    [digit.charCodeAt(0), value] as const,
    [digit.toUpperCase().charCodeAt(0), value] as const,
  ]),
);

/** A text, decoded from another one. */
export interface DecodedText {
  readonly text: string;
  /** Where each character, and the end, is in the first text; `null` for the first text itself. */
  readonly starts: Uint32Array | null;
}

/** Decodes any percent-encoded bytes, one character each. */
export function decodePercent(text: string): string {
  return locatePercent({ text, starts: null }).text;
}

/** Decodes once more, and keeps the places. Returns the same object if nothing is encoded. */
export function locatePercent(form: DecodedText): DecodedText {
  const { text, starts: before } = form;
  if (!ENCODED.test(text)) return form;
  const codes = new Uint16Array(text.length);
  const starts = new Uint32Array(text.length + 1);
  let length = 0;
  let index = 0;
  for (; index < text.length; length += 1) {
    const byte = text.charCodeAt(index) === PERCENT ? readByte(text, index + 1) : null;
    codes[length] = byte ?? text.charCodeAt(index);
    starts[length] = before?.[index] ?? index;
    index += byte === null ? 1 : 3;
  }
  starts[length] = before?.[index] ?? index;
  const decoded = Buffer.from(codes.buffer, 0, 2 * length).toString('utf16le');
  return { text: decoded, starts };
}

function readByte(text: string, index: number): number | null {
  const high = DIGITS.get(text.charCodeAt(index));
  const low = DIGITS.get(text.charCodeAt(index + 1));
  return high === undefined || low === undefined ? null : 16 * high + low;
}
