const DECIMAL = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/;
/** Longer exponents are compared as text. */
const MAX_EXPONENT_DIGITS = 15;

/** Whether two JSON numbers have the same value, such as `1.0`, `1` and `10e-1`. */
export function equalNumbers(a: string, b: string): boolean {
  return a === b || normalize(a) === normalize(b);
}

/**
 * Normalizes a number: sign, digits without zeros at either end, and the exponent of the last
 * digit.
 */
function normalize(written: string): string {
  const [, sign, integer = '', fraction = '', exponent = '0'] = DECIMAL.exec(written) ?? [];
  if (sign === undefined || exponent.length > MAX_EXPONENT_DIGITS) return written;
  const digits = trimZeros(integer + fraction);
  if (digits.length === 0) return '0';
  const dropped = integer.length + fraction.length - digits.end;
  return `${sign}${digits.text}e${Number(exponent) - fraction.length + dropped}`;
}

/** Trims in two passes over the text: a pattern would scan inner zeros repeatedly. */
function trimZeros(text: string): { text: string; length: number; end: number } {
  let start = 0;
  let end = text.length;
  while (start < end && text[start] === '0') start += 1;
  while (end > start && text[end - 1] === '0') end -= 1;
  return { text: text.slice(start, end), length: end - start, end };
}
