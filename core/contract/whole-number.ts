import { define, type Struct } from 'superstruct';
import { described } from './described.js';

/** The longest delay of a Node.js timer: a longer one fires at once. */
export const MAX_TIMER_MS = 2 ** 31 - 1;

/** A whole number from `min` to `max`, both included. Messages name both bounds. */
export function wholeNumber(
  min: number,
  max: number = Number.MAX_SAFE_INTEGER,
): Struct<number, null> {
  const range = max === Number.MAX_SAFE_INTEGER ? `, at least ${min}` : ` from ${min} to ${max}`;
  return described(
    define<number>(
      `a whole number${range}`,
      (value) =>
        Number.isSafeInteger(value) && (value as number) >= min && (value as number) <= max,
    ),
    { type: 'integer', minimum: min, maximum: max },
  );
}
