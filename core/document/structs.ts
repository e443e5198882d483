import { define, type Struct } from 'superstruct';
import { described, matching } from '../contract/described.js';

/**
 * Structs are named to complete the sentence `'limits.queue' must be …`: messages use the names,
 * since superstruct's own messages contain the value.
 */
export function anyWholeNumber(): Struct<number, null> {
  return described(define<number>('a whole number', Number.isSafeInteger), {
    type: 'integer',
    minimum: Number.MIN_SAFE_INTEGER,
    maximum: Number.MAX_SAFE_INTEGER,
  });
}

export function numberBetween(min: number, max: number): Struct<number, null> {
  return described(
    define<number>(
      `a number from ${min} to ${max}`,
      (value) => typeof value === 'number' && isWithin(value, min, max),
    ),
    { type: 'number', minimum: min, maximum: max },
  );
}

export function finiteNumber(): Struct<number, null> {
  return described(define<number>('a number', Number.isFinite), { type: 'number' });
}

export function nonEmptyText(): Struct<string, null> {
  return described(
    define<string>(
      'a string that is not empty',
      (value) => typeof value === 'string' && value !== '',
    ),
    { type: 'string', minLength: 1 },
  );
}

/** A line of human-readable text. `max` counts code points. */
export function shortText(max: number): Struct<string, null> {
  return matching(
    `a text of 1 to ${max} characters without control characters`,
    new RegExp(`^\\P{Cc}{1,${max}}$`, 'u'),
    { minLength: 1, maxLength: max, pattern: '^[^\\u0000-\\u001F\\u007F-\\u009F]*$' },
  );
}

function isWithin(value: number, min: number, max: number): boolean {
  return value >= min && value <= max;
}

/** The index of the first text that repeats an earlier one; `null` if all differ. */
export function findRepeated(texts: readonly string[]): number | null {
  const seen = new Set<string>();
  const index = texts.findIndex((text) => seen.size === seen.add(text).size);
  return index === -1 ? null : index;
}
