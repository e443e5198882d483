import { expect } from 'chai';
import { assert, double, integer, oneof, property, tuple } from 'fast-check';
import { createMultipleCheck } from '../../core/schema/multiple-of.js';

/** The same by integers of any size. */
function isMultiple(value: number, divisor: number): boolean {
  const [a, b] = [toDecimal(value), toDecimal(divisor)];
  const exponent = Math.min(a.exponent, b.exponent);
  const scale = ({ digits, exponent: ownExponent }: typeof a) =>
    digits * 10n ** BigInt(ownExponent - exponent);
  return scale(a) % scale(b) === 0n;
}

function toDecimal(value: number) {
  const [mantissa = '', power = '0'] = value.toExponential().split('e');
  const [whole = '', fraction = ''] = mantissa.split('.');
  return { digits: BigInt(whole + fraction), exponent: Number(power) - fraction.length };
}

const decimal = tuple(integer(), integer({ min: -30, max: 30 })).map(([digits, power]) =>
  Number(`${digits}e${power}`),
);
const finite = double({ noNaN: true, noDefaultInfinity: true });

describe('multiples', () => {
  it('are those of the decimals that were written, for any two numbers', () => {
    assert(
      property(oneof(decimal, finite), oneof(decimal, finite), integer(), (number, divisor, by) => {
        const positive = Math.abs(divisor) || 1;
        const check = createMultipleCheck(positive);
        for (const value of [number, positive * by, Number((positive * by).toPrecision(15))]) {
          if (!Number.isFinite(value)) continue;
          expect(check(value), `${value} by ${positive}`).to.equal(isMultiple(value, positive));
        }
      }),
      { numRuns: 2000 },
    );
  });

  it('are found beyond what a number holds exactly', () => {
    const cases: readonly (readonly [number, number, boolean])[] = [
      [1e300, 0.01, true],
      [1e300, 7, false],
      [5e-324, 5e-324, true],
      [2 ** 60, 2, true],
      [0.3, 0.1, true],
      [0.30000000000000004, 0.1, false],
      [-19.99, 0.01, true],
      [0, 1e20, true],
      [1e19, 1e20, false],
      [12.5, 10, false],
      [Number.POSITIVE_INFINITY, 1, false],
    ];
    for (const [value, divisor, expected] of cases) {
      expect(createMultipleCheck(divisor)(value), `${value} by ${divisor}`).to.equal(expected);
    }
  });
});
