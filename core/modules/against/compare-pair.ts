import { findAtPath } from '../../lib/json/json-pointer.js';
import { equalJson } from '../../schema/equal-json.js';
import { isSchemaObject, listSubschemas } from '../../schema/subschema-keywords.js';
import {
  BOUNDS,
  compareBounds,
  compareTypes,
  compareValues,
  type SchemaObject,
} from './compare-keywords.js';

/**
 * The effect of a changed schema on the values that it accepts.
 * - `narrower`: fewer values
 * - `wider`: more values
 * - `other`: unknown
 * - `removed`: a property is no longer described
 * - `added`: a property is newly described
 */
export type SchemaEffect = 'narrower' | 'wider' | 'other' | 'removed' | 'added';

export interface SchemaDifference {
  /** The place is a JSON Pointer, with `*` for any item or member. */
  readonly place: string;
  readonly effect: SchemaEffect;
  /** `type integer is no longer accepted` */
  readonly text: string;
}

export interface ComparedParts<Pair> {
  /** The differences of the schemas themselves; their places start at the schemas. */
  readonly own: readonly SchemaDifference[];
  readonly parts: readonly ComparedPart<Pair>[];
}

interface ComparedPart<Pair> {
  readonly pair: Pair;
  /** From the schema that contains it. */
  readonly place: string;
  /** Of a differing part, only this keyword is reported; `null` to report the part itself. */
  readonly keyword: string | null;
}

/** Keywords of which only a change is reported: without one, a schema accepts more values. */
const CONSTRAINTS = new Set([
  ...['pattern', 'multipleOf', 'uniqueItems', 'contains', 'minContains', 'maxContains', 'not'],
  ...['allOf', 'anyOf', 'oneOf', 'if', 'then', 'else', 'propertyNames', 'dependentRequired'],
  ...['dependentSchemas', 'prefixItems', 'patternProperties', 'unevaluatedItems'],
  'unevaluatedProperties',
]);
const COMPARED = new Set([
  ...[...CONSTRAINTS, ...BOUNDS, 'type', 'enum', 'const', 'required', 'properties'],
  ...['additionalProperties', 'items'],
]);

/** Whether a schema has constraints beside its reference. */
export function isConstrained(schema: SchemaObject): boolean {
  return Object.keys(schema).some((keyword) => COMPARED.has(keyword));
}

/** Compares two schemas without their subschemas, which it pairs. */
export function comparePair<Pair>(
  old: unknown,
  now: unknown,
  pairUp: (before: unknown, after: unknown) => Pair,
): ComparedParts<Pair> {
  if (old === now && typeof old === 'boolean') return { own: [], parts: [] };
  if (old === false) return only('wider', 'any value is accepted where none was');
  if (now === false) return only('narrower', 'no value is accepted any more');
  const [before, after] = [toObject(old), toObject(now)];
  const own: SchemaDifference[] = [
    ...[compareTypes, compareValues, compareBounds].flatMap((compare) =>
      compare(before, after).map((difference) => ({ place: '', ...difference })),
    ),
    ...compareRequired(before, after),
    ...compareNames(before, after),
    ...compareConstraints(before, after),
  ];
  const parts = [
    ...listDescribed(before, after),
    { place: '/*', keyword: null, before: before['items'] ?? true, after: after['items'] ?? true },
    ...listConstraining(before, after),
  ].map(({ place, keyword, ...schemas }) => {
    return { place, keyword, pair: pairUp(schemas.before, schemas.after) };
  });
  return { own, parts };
}

function only(effect: SchemaEffect, text: string) {
  return { own: [{ place: '', effect, text }], parts: [] };
}

function compareRequired(before: SchemaObject, after: SchemaObject): SchemaDifference[] {
  const [old, now] = [toNames(before['required']), toNames(after['required'])];
  const list = (names: ReadonlySet<string>, others: ReadonlySet<string>) =>
    [...names].filter((name) => !others.has(name)).map((name) => `/${name}`);
  return [
    ...list(now, old).map((place) => ({
      place,
      ...({ effect: 'narrower', text: 'is now required' } as const),
    })),
    ...list(old, now).map((place) => ({
      place,
      ...({ effect: 'wider', text: 'is no longer required' } as const),
    })),
  ];
}

/** Compares which properties are described. */
function compareNames(before: SchemaObject, after: SchemaObject): SchemaDifference[] {
  const [old, now] = [toObject(before['properties']), toObject(after['properties'])];
  const removed = Object.keys(old).filter((name) => !Object.hasOwn(now, name));
  const added = Object.keys(now).filter((name) => !Object.hasOwn(old, name));
  return [
    ...removed.flatMap((name): SchemaDifference[] => [
      ...(readOthers(after) === false
        ? [{ place: `/${name}`, effect: 'narrower', text: 'is no longer accepted' } as const]
        : []),
      { place: `/${name}`, effect: 'removed', text: 'is no longer described' },
    ]),
    ...added.map(
      (name): SchemaDifference =>
        readOthers(before) === false
          ? { place: `/${name}`, effect: 'wider', text: 'is accepted now' }
          : { place: `/${name}`, effect: 'added', text: 'is described now' },
    ),
  ];
}

function compareConstraints(before: SchemaObject, after: SchemaObject): SchemaDifference[] {
  const report = (effect: SchemaEffect, text: string) => [{ place: '', effect, text }];
  const keywords = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...keywords].flatMap((keyword) => {
    if (!CONSTRAINTS.has(keyword) && keyword !== '$ref') return [];
    const [isOld, isNow] = [keyword in before, keyword in after];
    if (isOld !== isNow) {
      return isNow
        ? report('narrower', `${keyword} is new`)
        : report('wider', `${keyword} was removed`);
    }
    // The targets of references are compared instead.
    if (keyword === '$ref' || equalJson(before[keyword], after[keyword])) return [];
    return report('other', `${keyword} has changed`);
  });
}

interface Described {
  readonly place: string;
  readonly keyword: string | null;
  readonly before: unknown;
  readonly after: unknown;
}

/** The subschemas of described and of other properties. */
function listDescribed(before: SchemaObject, after: SchemaObject): Described[] {
  const [old, now] = [toObject(before['properties']), toObject(after['properties'])];
  const names = Object.keys(old).filter((name) => Object.hasOwn(now, name));
  return [
    ...names.map((name) => {
      return { place: `/${name}`, keyword: null, before: old[name], after: now[name] };
    }),
    { place: '/*', keyword: null, before: readOthers(before), after: readOthers(after) },
  ];
}

/** The subschemas of unchanged constraints, because the targets of their references may differ. */
function listConstraining(before: SchemaObject, after: SchemaObject): Described[] {
  const branches = listSubschemas(before)
    .filter(({ keyword }) => CONSTRAINTS.has(keyword))
    .map(({ keyword, value, path }) => {
      const other = findAtPath(after, path.map(String));
      return { place: '', keyword, before: value, after: other?.value };
    })
    .filter((branch) => equalJson(branch.before, branch.after));
  const [old, now] = [before['$ref'], after['$ref']];
  if (old === undefined || now === undefined) return branches;
  const targets = { before: { $ref: old }, after: { $ref: now } };
  return [...branches, { place: '', keyword: null, ...targets }];
}

function readOthers(schema: SchemaObject): unknown {
  return schema['additionalProperties'] ?? true;
}

function toObject(value: unknown): SchemaObject {
  return isSchemaObject(value) ? value : {};
}

function toNames(value: unknown): ReadonlySet<string> {
  return new Set(Array.isArray(value) ? (value as readonly string[]) : []);
}
