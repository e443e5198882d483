import type { RouteOperation } from '../../contract/index.js';
import { findAtPath } from '../../lib/json/json-pointer.js';
import { equalJson } from '../../schema/equal-json.js';
import {
  resolveReference,
  type SchemaScope,
  type SharedSchemas,
} from '../../schema/shared-schemas.js';
import { isSchemaObject, listSubschemas } from '../../schema/subschema-keywords.js';
import { compareBounds, compareTypes, compareValues } from './compare-keywords.js';

const KEYS = { input: 'input_schema', query: 'query_schema', output: 'output_schema' } as const;

/**
 * A request fails if fewer values are accepted; a reader of responses fails if they have more
 * kinds, or lack a member.
 */
const BREAKING: Readonly<Record<'request' | 'response', readonly SchemaEffect[]>> = {
  request: ['narrower', 'other'],
  response: ['wider', 'other', 'removed'],
};

/**
 * The effect of a changed schema on the values that it accepts.
 * - `narrower`: fewer values
 * - `wider`: more values
 * - `other`: unknown
 * - `removed`: a property is no longer described
 * - `added`: a property is newly described
 */
type SchemaEffect = 'narrower' | 'wider' | 'other' | 'removed' | 'added';

interface SchemaDifference {
  /** The place is a JSON Pointer, with `*` for any item or member. */
  readonly place: string;
  readonly effect: SchemaEffect;
  /** `type integer is no longer accepted` */
  readonly text: string;
}

type SchemaObject = Readonly<Record<string, unknown>>;

/** Compares parts of two schemas. */
type Enter = (before: unknown, after: unknown, place: string) => void;

const MAX_DIFFERENCES = 20;
const MAX_STEPS = 10_000;
/** Keywords of which only a change is reported: without one, a schema accepts more values. */
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

/** A schema, with the target of its references. */
interface Place {
  readonly schema: unknown;
  readonly scope: SchemaScope;
}

/** Compares two schemas place by place; an absent schema accepts everything. */
function compareSchemas(
  before: unknown,
  after: unknown,
  shared: { readonly before: SharedSchemas; readonly after: SharedSchemas },
): readonly SchemaDifference[] {
  const comparison = new SchemaComparison({ steps: MAX_STEPS });
  comparison.compare(
    { schema: before ?? true, scope: { root: before, shared: shared.before } },
    { schema: after ?? true, scope: { root: after, shared: shared.after } },
    '',
  );
  return comparison.differences;
}

class SchemaComparison {
  readonly differences: SchemaDifference[] = [];
  /** Compared pairs, to which recursive schemas lead again. */
  readonly #seen = new Map<unknown, Set<unknown>>();
  readonly #left: { steps: number };

  constructor(remaining: { steps: number }) {
    this.#left = remaining;
  }

  compare(beforePlace: Place, afterPlace: Place, place: string): void {
    const [old, now] = [follow(beforePlace), follow(afterPlace)];
    const [before, after] = [old.schema, now.schema];
    this.#left.steps -= 1;
    if (this.#left.steps < 0 || this.#isSeen(before, after)) return;
    if (before === after) return;
    if (before === false || after === false) {
      if (before === false) this.#add(place, 'wider', 'any value is accepted where none was');
      else this.#add(place, 'narrower', 'no value is accepted any more');
      return;
    }
    this.#compareObjects(old, now, place);
  }

  #compareObjects(old: Place, now: Place, place: string): void {
    const [before, after] = [toObject(old.schema), toObject(now.schema)];
    const enter: Enter = (first, other, path) => {
      this.compare({ ...old, schema: first }, { ...now, schema: other }, path);
    };
    for (const compare of [compareTypes, compareValues, compareBounds]) {
      for (const { effect, text } of compare(before, after)) this.#add(place, effect, text);
    }
    this.#compareRequired(before, after, place);
    this.#compareProperties(before, after, place, enter);
    enter(before['items'] ?? true, after['items'] ?? true, `${place}/*`);
    this.#compareOthers(before, after, place);
    this.#compareReferred(old, now, place);
  }

  /**
   * Compares the targets of references, because equal branches differ if their targets have
   * changed.
   */
  #compareReferred(before: Place, after: Place, place: string): void {
    const others = toObject(after.schema);
    const changed = new Set<string>();
    for (const { keyword, value, path } of listSubschemas(toObject(before.schema))) {
      if (!CONSTRAINTS.has(keyword) || changed.has(keyword)) continue;
      const other = findAtPath(others, path.map(String))?.value;
      if (!equalJson(value, other)) continue;
      const comparison = new SchemaComparison(this.#left);
      comparison.compare({ ...before, schema: value }, { ...after, schema: other }, place);
      if (comparison.differences.length > 0) changed.add(keyword);
    }
    for (const keyword of changed) this.#add(place, 'other', `${keyword} has changed`);
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

  #compareProperties(before: SchemaObject, after: SchemaObject, place: string, enter: Enter): void {
    const [old, now] = [toObject(before['properties']), toObject(after['properties'])];
    const [oldOthers, nowOthers] = [readOthers(before), readOthers(after)];
    for (const name of new Set([...Object.keys(old), ...Object.keys(now)])) {
      const path = `${place}/${name}`;
      if (!(name in now)) {
        const isClosed = nowOthers === false;
        if (isClosed) this.#add(path, 'narrower', 'is no longer accepted');
        this.#add(path, 'removed', 'is no longer described');
      } else if (name in old) enter(old[name], now[name], path);
      else if (oldOthers === false) this.#add(path, 'wider', 'is accepted now');
      else this.#add(path, 'added', 'is described now');
    }
    enter(oldOthers, nowOthers, `${place}/*`);
  }

  #compareOthers(before: SchemaObject, after: SchemaObject, place: string): void {
    for (const keyword of new Set([...Object.keys(before), ...Object.keys(after)])) {
      if (!CONSTRAINTS.has(keyword) || equalJson(before[keyword], after[keyword])) continue;
      if (!(keyword in before)) this.#add(place, 'narrower', `${keyword} is new`);
      else if (!(keyword in after)) this.#add(place, 'wider', `${keyword} was removed`);
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

  #add(place: string, effect: SchemaEffect, text: string): void {
    if (this.differences.length < MAX_DIFFERENCES) this.differences.push({ place, effect, text });
  }
}

/** Follows the reference of a schema. */
function follow(start: Place): Place {
  let { schema, scope } = start;
  for (let step = 0; step < MAX_STEPS; step += 1) {
    if (!isSchemaObject(schema) || typeof schema['$ref'] !== 'string') return { schema, scope };
    const target = resolveReference(scope, schema['$ref']);
    schema = target?.value ?? true;
    scope = target?.scope ?? scope;
  }
  return { schema: true, scope };
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

/** A change of a schema that callers notice. */
export interface SchemaChange {
  readonly schema: 'input' | 'query' | 'output';
  /** `/amount`; empty for the value as a whole. */
  readonly place: string;
  readonly change: string;
  /** Whether a working caller may fail. */
  readonly breaks: boolean;
}

/** A route, with the shared schemas of its manifest. */
interface DescribedOperation {
  readonly operation: RouteOperation | undefined;
  readonly shared: SharedSchemas;
}

export function listSchemaChanges(
  before: DescribedOperation,
  after: DescribedOperation,
): SchemaChange[] {
  const shared = { before: before.shared, after: after.shared };
  return (['input', 'query', 'output'] as const).flatMap((schema) => {
    const key = KEYS[schema];
    const differences = compareSchemas(before.operation?.[key], after.operation?.[key], shared);
    const breaking = BREAKING[schema === 'output' ? 'response' : 'request'];
    return keepWorst(differences, breaking).map(({ place, effect, text }): SchemaChange => {
      return { schema, place, change: text, breaks: breaking.includes(effect) };
    });
  });
}

/** Keeps the effect that breaks callers if a removed property has two. */
function keepWorst(
  differences: readonly SchemaDifference[],
  breaking: readonly SchemaEffect[],
): SchemaDifference[] {
  return differences.filter((difference) => {
    if (breaking.includes(difference.effect)) return true;
    const others = differences.filter(
      (other) => other !== difference && other.place === difference.place,
    );
    return !others.some(({ effect }) => breaking.includes(effect));
  });
}
