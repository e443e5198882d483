/** Whether a number is a multiple of another one, as the decimals that are written in JSON. */
export function isMultipleOf(value: number, divisor: number): boolean {
  if (Number.isSafeInteger(value) && Number.isSafeInteger(divisor)) return value % divisor === 0;
  if (!Number.isFinite(value)) return false;
  const a = toDecimal(value);
  const b = toDecimal(divisor);
  const exponent = Math.min(a.exponent, b.exponent);
  return scale(a, exponent) % scale(b, exponent) === 0n;
}

interface Decimal {
  readonly digits: bigint;
  readonly exponent: number;
}

/** The shortest decimal that is read as this number. */
function toDecimal(value: number): Decimal {
  const [mantissa = '', power = '0'] = value.toExponential().split('e');
  const [whole = '', fraction = ''] = mantissa.split('.');
  return { digits: BigInt(whole + fraction), exponent: Number(power) - fraction.length };
}

function scale({ digits, exponent }: Decimal, to: number): bigint {
  return digits * 10n ** BigInt(exponent - to);
}
