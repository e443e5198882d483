import { equalJson } from '../../schema/equal-json.js';
import { resolveReference } from '../../schema/schema-graph.js';
import { isSchemaObject } from '../../schema/subschema-keywords.js';
import { compareBounds, compareTypes, compareValues } from './compare-keywords.js';

/**
 * What a change of a schema does to the values that it accepts.
 * - `narrower`: fewer
 * - `wider`: more
 * - `other`: not known
 * - `removed`: a property is no longer described
 * - `added`: a property is described that was not
 */
export type SchemaEffect = 'narrower' | 'wider' | 'other' | 'removed' | 'added';

export interface SchemaDifference {
  /** Like a JSON Pointer, with `*` for any item or member. */
  readonly place: string;
  readonly effect: SchemaEffect;
  /** `type integer is no longer accepted` */
  readonly what: string;
}

type SchemaObject = Readonly<Record<string, unknown>>;

const MAX_DIFFERENCES = 20;
const MAX_STEPS = 10_000;
/** Keywords of which only a change is reported: without one a schema accepts more values. */
const CONSTRAINTS = new Set([
  ...['pattern', 'multipleOf', 'uniqueItems', 'contains', 'minContains', 'maxContains', 'not'],
  ...[
    'allOf',
    'anyOf',
    'oneOf',
    'if',
    'then',
    'else',
    'propertyNames',
    'dependentRequired',
    'dependentSchemas',
  ],
  ...['prefixItems', 'patternProperties', 'unevaluatedItems', 'unevaluatedProperties'],
]);

/** Compares two schemas place by place; a schema that is absent accepts everything. */
export function compareSchemas(before: unknown, after: unknown): readonly SchemaDifference[] {
  const comparison = new SchemaComparison(before ?? true, after ?? true);
  comparison.compare(before ?? true, after ?? true, '');
  return comparison.differences;
}

class SchemaComparison {
  readonly differences: SchemaDifference[] = [];
  readonly #before: unknown;
  readonly #after: unknown;
  /** Pairs that were compared: recursive schemas lead to them again. */
  readonly #seen = new Map<unknown, Set<unknown>>();
  #steps = 0;

  constructor(before: unknown, after: unknown) {
    this.#before = before;
    this.#after = after;
  }

  compare(beforeSchema: unknown, afterSchema: unknown, place: string): void {
    const before = follow(beforeSchema, this.#before);
    const after = follow(afterSchema, this.#after);
    this.#steps += 1;
    if (this.#steps > MAX_STEPS || this.#isSeen(before, after)) return;
    if (before === after) return;
    if (before === false || after === false) {
      if (before === false) this.#add(place, 'wider', 'any value is accepted where none was');
      else this.#add(place, 'narrower', 'no value is accepted any more');
      return;
    }
    this.#compareObjects(toObject(before), toObject(after), place);
  }

  #compareObjects(before: SchemaObject, after: SchemaObject, place: string): void {
    for (const compare of [compareTypes, compareValues, compareBounds]) {
      for (const { effect, what } of compare(before, after)) this.#add(place, effect, what);
    }
    this.#compareRequired(before, after, place);
    this.#compareProperties(before, after, place);
    this.compare(before['items'] ?? true, after['items'] ?? true, `${place}/*`);
    this.#compareOthers(before, after, place);
  }

  #compareRequired(before: SchemaObject, after: SchemaObject, place: string): void {
    const [old, now] = [toNames(before['required']), toNames(after['required'])];
    for (const name of now) {
      if (!old.includes(name)) this.#add(`${place}/${name}`, 'narrower', 'is now required');
    }
    for (const name of old) {
      if (!now.includes(name)) this.#add(`${place}/${name}`, 'wider', 'is no longer required');
    }
  }

  #compareProperties(before: SchemaObject, after: SchemaObject, place: string): void {
    const [old, now] = [toObject(before['properties']), toObject(after['properties'])];
    const [oldOthers, nowOthers] = [readOthers(before), readOthers(after)];
    for (const name of new Set([...Object.keys(old), ...Object.keys(now)])) {
      const at = `${place}/${name}`;
      if (!(name in now)) {
        const isClosed = nowOthers === false;
        if (isClosed) this.#add(at, 'narrower', 'is no longer accepted');
        this.#add(at, 'removed', 'is no longer described');
      } else if (name in old) this.compare(old[name], now[name], at);
      else if (oldOthers === false) this.#add(at, 'wider', 'is accepted now');
      else this.#add(at, 'added', 'is described now');
    }
    this.compare(oldOthers, nowOthers, `${place}/*`);
  }

  #compareOthers(before: SchemaObject, after: SchemaObject, place: string): void {
    for (const keyword of new Set([...Object.keys(before), ...Object.keys(after)])) {
      if (!CONSTRAINTS.has(keyword) || equalJson(before[keyword], after[keyword])) continue;
      if (!(keyword in before)) this.#add(place, 'narrower', `${keyword} is new`);
      else if (!(keyword in after)) this.#add(place, 'wider', `${keyword} is gone`);
      else this.#add(place, 'other', `${keyword} has changed`);
    }
  }

  #isSeen(before: unknown, after: unknown): boolean {
    const seen = this.#seen.get(before) ?? new Set();
    this.#seen.set(before, seen);
    const isSeen = seen.has(after);
    seen.add(after);
    return isSeen;
  }

  #add(place: string, effect: SchemaEffect, what: string): void {
    if (this.differences.length < MAX_DIFFERENCES) this.differences.push({ place, effect, what });
  }
}

/** What a schema that only refers to another one leads to. */
function follow(schema: unknown, root: unknown): unknown {
  let current = schema;
  for (let step = 0; step < MAX_STEPS; step += 1) {
    if (!isSchemaObject(current) || typeof current['$ref'] !== 'string') return current;
    current = resolveReference(root, current['$ref'])?.value ?? true;
  }
  return true;
}

function readOthers(schema: SchemaObject): unknown {
  return schema['additionalProperties'] ?? true;
}

function toObject(value: unknown): SchemaObject {
  return isSchemaObject(value) ? value : {};
}

function toNames(value: unknown): readonly string[] {
  return Array.isArray(value) ? (value as readonly string[]) : [];
}
