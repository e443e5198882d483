/**
 * The limit below which different decimals are different numbers, so that rounding restores the
 * written decimal.
 */
const MAX_EXACT_DIGITS = 1e15;
/** The powers of ten that a number represents exactly. */
const MAX_EXACT_POWER = 22;

/**
 * Creates a check whether numbers are multiples of a divisor, as decimals in JSON. Few numbers need
 * more than plain arithmetic.
 */
export function createMultipleCheck(divisor: number): (value: number) => boolean {
  const { digits, exponent } = toDecimal(divisor);
  const remainders = new Remainders(digits);
  const isWhole = Number.isSafeInteger(divisor);
  const factor = exponent <= 0 && exponent >= -MAX_EXACT_POWER ? Number(`1e${-exponent}`) : null;
  // With this exponent the divisor has as many digits.
  const units = Number(digits);
  return (value) => {
    if (isWhole && Number.isSafeInteger(value)) return value % divisor === 0;
    if (!Number.isFinite(value)) return false;
    if (Math.abs(value) < Math.abs(divisor)) return value === 0;
    if (factor !== null && units < MAX_EXACT_DIGITS) {
      const scaled = Math.round(value * factor);
      if (Math.abs(scaled) < MAX_EXACT_DIGITS) {
        // Otherwise the value has more decimal places than any multiple.
        return scaled / factor === value && scaled % units === 0;
      }
    }
    const decimal = toDecimal(value);
    // The last digit of a decimal is not 0, so a shorter multiple cannot be as precise.
    if (decimal.exponent < exponent) return false;
    return remainders.isMultiple(decimal.digits, decimal.exponent - exponent);
  };
}

interface Decimal {
  readonly digits: bigint;
  readonly exponent: number;
}

/** The shortest decimal that parses to this number. */
function toDecimal(value: number): Decimal {
  const [mantissa = '', power = '0'] = value.toExponential().split('e');
  const [integer = '', fraction = ''] = mantissa.split('.');
  return { digits: BigInt(integer + fraction), exponent: Number(power) - fraction.length };
}

/** The remainders of powers of ten: numbers have up to 300 digits, and a body thousands of them. */
class Remainders {
  readonly #divisor: bigint;
  readonly #powers: bigint[] = [];

  constructor(divisor: bigint) {
    this.#divisor = divisor;
  }

  isMultiple(digits: bigint, power: number): boolean {
    for (let exponent = this.#powers.length; exponent <= power; exponent += 1) {
      const before = this.#powers[exponent - 1];
      this.#powers.push((before === undefined ? 1n : before * 10n) % this.#divisor);
    }
    return (digits * (this.#powers[power] ?? 0n)) % this.#divisor === 0n;
  }
}
