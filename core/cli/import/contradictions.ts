import type { JsonObject } from '../json-value.js';

/**
 * Says why a keyword, as documents often write it, rejects what it was meant to accept: numbers of
 * YAML that were meant as texts, values of the items beside a list, a pattern between slashes.
 * Returns `null` for a keyword that can be kept.
 */
export function explainContradiction(
  keyword: string,
  value: unknown,
  { type }: JsonObject,
): string | null {
  switch (keyword) {
    case 'enum':
      if (!Array.isArray(value)) return null;
      return value.length === 0 ? 'it is empty' : explainValues(value, type);
    case 'const':
      return explainValues([value], type);
    case 'pattern':
      return typeof value === 'string' && isBetweenSlashes(value)
        ? 'it is written between slashes and would match no text'
        : null;
  }
  return null;
}

function explainValues(values: readonly unknown[], type: unknown): string | null {
  const types: readonly unknown[] = Array.isArray(type) ? type : [type];
  const tests = types.map((name) => (typeof name === 'string' ? TESTS.get(name) : undefined));
  // Null is often listed beside texts, which stay valid.
  const isValid = (value: unknown) => value === null || tests.some((test) => test?.(value));
  if (tests.includes(undefined) || values.every(isValid)) return null;
  return 'the type beside it excludes a value of it';
}

const TESTS: ReadonlyMap<string, (value: unknown) => boolean> = new Map([
  ['array', (value: unknown) => Array.isArray(value)],
  ['boolean', (value: unknown) => typeof value === 'boolean'],
  ['integer', (value: unknown) => Number.isInteger(value)],
  ['null', (value: unknown) => value === null],
  ['number', (value: unknown) => typeof value === 'number'],
  ['object', (value: unknown) => typeof value === 'object' && !Array.isArray(value)],
  ['string', (value: unknown) => typeof value === 'string'],
]);

/** Whether the start of the text would follow a slash, or a slash its end. */
function isBetweenSlashes(pattern: string): boolean {
  return /^\/\^.*\/[a-z]*$/su.test(pattern) || /^\/.*(?<!\\)\$\/[a-z]*$/su.test(pattern);
}
