import {
  below,
  type Checker,
  type CheckerSource,
  type KeywordCheck,
  type Matcher,
  violates,
} from '../checker.js';
import { Dependents } from '../dependents.js';
import { OTHER_NAME, type Place, type Run } from '../run.js';
import { isSchemaObject } from '../subschema-keywords.js';
import { sizeReason } from './size-reason.js';

type JsonObject = Readonly<Record<string, unknown>>;

type Schema = Readonly<Record<string, unknown>>;
type ObjectCheck = KeywordCheck<JsonObject>;

interface PatternProperty {
  readonly matcher: Matcher;
  readonly checker: Checker;
}

export function compileObjectKeywords(schema: Schema, source: CheckerSource): ObjectCheck[] {
  return [
    ...compileRequired(schema),
    ...compileSizes(schema),
    ...compileDependentRequired(schema),
    ...compileProperties(schema, source),
    ...compileNames(schema, source),
  ];
}

function compileRequired({ required }: Schema): ObjectCheck[] {
  if (!Array.isArray(required) || required.length === 0) return [];
  const names = required as readonly string[];
  return [
    (value, run, place) => hasAll(value, names, run) || reportMissing(value, names, run, place),
  ];
}

function hasAll(value: JsonObject, names: readonly string[], run: Run): boolean {
  let index = 0;
  while (index < names.length && Object.hasOwn(value, names[index] as string)) index += 1;
  run.look(index);
  return index === names.length;
}

function reportMissing(
  value: JsonObject,
  names: readonly string[],
  run: Run,
  place: Place | null,
): false {
  if (place === null || run.isFull) return false;
  run.look(names.length);
  for (const name of names) {
    if (!Object.hasOwn(value, name)) violates(run, below(place, name), 'missing');
  }
  return false;
}

function compileSizes({ maxProperties, minProperties }: Schema): ObjectCheck[] {
  const checks: ObjectCheck[] = [];
  if (typeof maxProperties === 'number') {
    const reason = sizeReason('at most', maxProperties, 'member');
    checks.push(
      (value, run, place) =>
        run.namesOf(value).length <= maxProperties || violates(run, place, reason),
    );
  }
  if (typeof minProperties === 'number') {
    const reason = sizeReason('at least', minProperties, 'member');
    checks.push(
      (value, run, place) =>
        run.namesOf(value).length >= minProperties || violates(run, place, reason),
    );
  }
  return checks;
}

function compileDependentRequired({ dependentRequired }: Schema): ObjectCheck[] {
  if (!isSchemaObject(dependentRequired)) return [];
  const dependents = new Dependents(
    Object.entries(dependentRequired as Readonly<Record<string, readonly string[]>>),
  );
  return [
    (value, run, place) => {
      let isValid = true;
      for (const needed of dependents.find(value, run)) {
        if (hasAll(value, needed, run)) continue;
        isValid = reportMissing(value, needed, run, place);
        if (place === null || run.isFull) return false;
      }
      return isValid;
    },
  ];
}

/** `properties`, `patternProperties` and `additionalProperties` in one pass over the members. */
function compileProperties(schema: Schema, source: CheckerSource): ObjectCheck[] {
  const { properties, patternProperties, additionalProperties } = schema;
  const byName = new Map<string, Checker>();
  if (isSchemaObject(properties)) {
    for (const [name, property] of Object.entries(properties))
      byName.set(name, source.checkerOf(property));
  }
  const byPattern: PatternProperty[] = [];
  if (isSchemaObject(patternProperties)) {
    for (const [pattern, property] of Object.entries(patternProperties)) {
      byPattern.push({ matcher: source.matcherOf(pattern), checker: source.checkerOf(property) });
    }
  }
  const others = additionalProperties === undefined ? null : source.checkerOf(additionalProperties);
  if (byName.size === 0 && byPattern.length === 0 && others === null) return [];
  return [
    (value, run, place, seen) => {
      let isValid = true;
      const names = run.namesOf(value);
      run.look(names.length);
      // Avoids iterators, because each level of a value uses some of the stack.
      for (let index = 0; index < names.length; index += 1) {
        const name = names[index] as string;
        const checker = byName.get(name);
        let isKnown = checker !== undefined;
        const memberPlace = below(place, name);
        if (checker !== undefined && !checker.check(value[name], run, memberPlace, null))
          isValid = false;
        for (let next = 0; next < byPattern.length; next += 1) {
          const { matcher, checker: patternChecker } = byPattern[next] as PatternProperty;
          if (!matcher.test(name, run)) continue;
          isKnown = true;
          if (!patternChecker.check(value[name], run, memberPlace, null)) isValid = false;
        }
        if (!isKnown && others !== null) {
          isKnown = true;
          if (!others.check(value[name], run, memberPlace, null)) isValid = false;
        }
        if (!isValid && (place === null || run.isFull)) return false;
        if (isKnown) seen?.addProperty(name);
      }
      return isValid;
    },
  ];
}

function compileNames({ propertyNames }: Schema, source: CheckerSource): ObjectCheck[] {
  if (propertyNames === undefined) return [];
  const checker = source.checkerOf(propertyNames);
  return [
    (value, run, place) => {
      let isValid = true;
      const names = run.namesOf(value);
      run.look(names.length);
      for (const name of names) {
        if (checker.check(name, run, null, null)) continue;
        isValid = violates(run, below(place, name), OTHER_NAME);
        if (place === null || run.isFull) return false;
      }
      return isValid;
    },
  ];
}

/** Checks the members that no other keyword has evaluated; compiled last. */
export function compileUnevaluatedProperties(schema: Schema, source: CheckerSource): ObjectCheck[] {
  const { unevaluatedProperties } = schema;
  if (unevaluatedProperties === undefined) return [];
  const checker = source.checkerOf(unevaluatedProperties);
  return [
    (value, run, place, seen) => {
      let isValid = true;
      const names = run.namesOf(value);
      run.look(names.length);
      for (const name of names) {
        if (seen?.hasProperty(name)) continue;
        if (checker.check(value[name], run, below(place, name), null)) continue;
        isValid = false;
        if (place === null || run.isFull) return false;
      }
      seen?.addAllProperties();
      return isValid;
    },
  ];
}
