import { define, type Struct } from 'superstruct';

/**
 * Structs whose name is what a message says after `must be`: findings are built from names alone, since
 * superstruct's own texts print the value.
 */
export function wholeNumber(
  min: number,
  max: number = Number.MAX_SAFE_INTEGER,
): Struct<number, null> {
  const range = max === Number.MAX_SAFE_INTEGER ? `, at least ${min}` : ` from ${min} to ${max}`;
  return define<number>(
    `a whole number${range}`,
    (value) => Number.isSafeInteger(value) && isWithin(value as number, min, max),
  );
}

export function anyWholeNumber(): Struct<number, null> {
  return define<number>('a whole number', Number.isSafeInteger);
}

export function numberBetween(min: number, max: number): Struct<number, null> {
  return define<number>(
    `a number from ${min} to ${max}`,
    (value) => typeof value === 'number' && isWithin(value, min, max),
  );
}

export function finiteNumber(): Struct<number, null> {
  return define<number>('a number', Number.isFinite);
}

export function matching(name: string, pattern: RegExp): Struct<string, null> {
  return define<string>(name, (value) => typeof value === 'string' && pattern.test(value));
}

export function nonEmptyText(): Struct<string, null> {
  return define<string>(
    'a string that is not empty',
    (value) => typeof value === 'string' && value !== '',
  );
}

function isWithin(value: number, min: number, max: number): boolean {
  return value >= min && value <= max;
}

/** The index of the first text that stands in the list before, `null` where all differ. */
export function findRepeated(texts: readonly string[]): number | null {
  const seen = new Set<string>();
  const index = texts.findIndex((text) => seen.size === seen.add(text).size);
  return index === -1 ? null : index;
}
