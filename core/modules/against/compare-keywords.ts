import { canonicalizeValue } from '../../contract/canonical-value.js';

/** The effect of a changed keyword on the values that a schema accepts. */
interface KeywordDifference {
  readonly effect: 'narrower' | 'wider';
  readonly text: string;
}

export type SchemaObject = Readonly<Record<string, unknown>>;

const TYPES = ['null', 'boolean', 'object', 'array', 'number', 'integer', 'string'];
/** A greater value is narrower. */
const LOWER_BOUNDS = ['minimum', 'exclusiveMinimum', 'minLength', 'minItems', 'minProperties'];
const UPPER_BOUNDS = ['maximum', 'exclusiveMaximum', 'maxLength', 'maxItems', 'maxProperties'];
export const BOUNDS = [...LOWER_BOUNDS, ...UPPER_BOUNDS];

export function compareTypes(before: SchemaObject, after: SchemaObject): KeywordDifference[] {
  if (before['type'] === after['type']) return [];
  const [old, now] = [listTypes(before['type']), listTypes(after['type'])];
  return [
    ...old.filter((type) => !now.includes(type)).map(narrower('type')),
    ...now.filter((type) => !old.includes(type)).map(wider('type')),
  ];
}

/** `number` includes `integer`. */
function listTypes(type: unknown): readonly string[] {
  if (type === undefined) return TYPES;
  const types = Array.isArray(type) ? (type as readonly string[]) : [String(type)];
  return types.includes('number') ? [...new Set([...types, 'integer'])] : types;
}

/** Compares `enum` and `const`. */
export function compareValues(before: SchemaObject, after: SchemaObject): KeywordDifference[] {
  const [old, now] = [listValues(before), listValues(after)];
  if (old === null && now === null) return [];
  if (old === null) return [{ effect: 'narrower', text: 'only listed values are accepted now' }];
  if (now === null) return [{ effect: 'wider', text: 'other than listed values are accepted now' }];
  const listOthers = (values: readonly unknown[], others: readonly unknown[]) => {
    const known = new Set(others.map((value) => canonicalizeValue(value)));
    const unknown = values.filter((value) => !known.has(canonicalizeValue(value)));
    return unknown.map((value) => JSON.stringify(value));
  };
  return [
    ...listOthers(old, now).map(narrower('value')),
    ...listOthers(now, old).map(wider('value')),
  ];
}

function listValues(schema: SchemaObject): readonly unknown[] | null {
  if (Array.isArray(schema['enum'])) return schema['enum'] as readonly unknown[];
  return Object.hasOwn(schema, 'const') ? [schema['const']] : null;
}

export function compareBounds(before: SchemaObject, after: SchemaObject): KeywordDifference[] {
  const compare =
    (sign: 1 | -1) =>
    (keyword: string): KeywordDifference[] => {
      if (before[keyword] === after[keyword]) return [];
      const old = readBound(before[keyword], sign);
      const now = readBound(after[keyword], sign);
      if (old === now) return [];
      return [{ effect: now > old ? 'narrower' : 'wider', text: `${keyword} has changed` }];
    };
  return [...LOWER_BOUNDS.flatMap(compare(1)), ...UPPER_BOUNDS.flatMap(compare(-1))];
}

/** An absent bound is below all others. */
function readBound(value: unknown, sign: 1 | -1): number {
  return typeof value === 'number' ? sign * value : Number.NEGATIVE_INFINITY;
}

function narrower(noun: string) {
  return (name: string): KeywordDifference => ({
    effect: 'narrower',
    text: `${noun} ${name} is no longer accepted`,
  });
}

function wider(noun: string) {
  return (name: string): KeywordDifference => ({
    effect: 'wider',
    text: `${noun} ${name} is accepted now`,
  });
}
