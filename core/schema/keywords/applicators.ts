import { formatPointer } from '../../lib/json/json-pointer.js';
import { type Checker, type CheckerSource, type KeywordCheck, violates } from '../checker.js';
import { Dependents } from '../dependents.js';
import { Evaluated } from '../evaluated.js';
import { type Place, type Run, type SchemaViolation, toPath } from '../run.js';
import { isSchemaObject } from '../subschema-keywords.js';

type Schema = Readonly<Record<string, unknown>>;

/** The keywords that apply subschemas to the same value. */
export function compileApplicators(schema: Schema, source: CheckerSource): KeywordCheck[] {
  const { $ref, allOf, not } = schema;
  const checks: KeywordCheck[] = [];
  if (typeof $ref === 'string') checks.push(followReference($ref, source));
  for (const schema of toList(allOf)) checks.push(source.checkerOf(schema).check);
  const any = toList(schema['anyOf']).map((branch) => source.checkerOf(branch));
  if (any.length > 0) checks.push(checkAny(any));
  const exclusive = toList(schema['oneOf']).map((branch) => source.checkerOf(branch));
  if (exclusive.length > 0) checks.push(checkOne(exclusive));
  if (not !== undefined) checks.push(checkNot(source.checkerOf(not)));
  if (schema['if'] !== undefined) checks.push(checkIf(schema, source));
  checks.push(...compileDependentSchemas(schema, source));
  return checks;
}

function toList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** The target is resolved at the first check, since it may lead back here. */
function followReference(reference: string, source: CheckerSource): KeywordCheck {
  let target: Checker | null = null;
  return (value, run, place, seen) => {
    target ??= source.checkerAt(reference);
    return target.check(value, run, place, seen);
  };
}

/** The evaluated parts of a branch count only if the branch accepts the value. */
function checkAny(branches: readonly Checker[]): KeywordCheck {
  return (value, run, place, seen) => {
    let isValid = false;
    for (let index = 0; index < branches.length; index += 1) {
      const evaluated = seen === null ? null : new Evaluated(run);
      if (!branches[index]?.check(value, run, null, evaluated)) continue;
      isValid = true;
      if (evaluated === null) break;
      seen?.merge(evaluated);
    }
    return isValid || reportBranches(branches, value, run, place);
  };
}

function checkOne(branches: readonly Checker[]): KeywordCheck {
  return (value, run, place, seen) => {
    let count = 0;
    for (let index = 0; index < branches.length; index += 1) {
      const evaluated = seen === null ? null : new Evaluated(run);
      if (!branches[index]?.check(value, run, null, evaluated)) continue;
      count += 1;
      if (evaluated !== null) seen?.merge(evaluated);
    }
    if (count === 1) return true;
    if (count === 0) return reportBranches(branches, value, run, place);
    return violates(run, place, `expected exactly one alternative to match, not ${count}`);
  };
}

/** Reports why the value violates the branch for which it was intended, if that is clear. */
function reportBranches(
  branches: readonly Checker[],
  value: unknown,
  run: Run,
  place: Place | null,
): false {
  if (place === null) return false;
  const ownPointer = formatPointer(toPath(place));
  // Another keyword has reported more about the value, such as a condition for one of the branches.
  if (run.hasReported(ownPointer)) return false;
  const fitting = branches.filter((branch) => branch.acceptsKind(value));
  const reports = fitting
    .map((branch) => run.collect(() => branch.check(value, run, place, null)))
    .filter((report) => report.every(({ pointer }) => pointer !== ownPointer));
  const [only, ...others] =
    fitting.length === 1 ? [collectOnly(fitting, value, run, place)] : reports;
  if (only !== undefined && others.length === 0 && only.length > 0) run.add(only);
  else run.report(place, 'expected one of the alternatives to match');
  return false;
}

function collectOnly(
  [only]: readonly Checker[],
  value: unknown,
  run: Run,
  place: Place,
): readonly SchemaViolation[] {
  return run.collect(() => only?.check(value, run, place, null));
}

function checkNot(branch: Checker): KeywordCheck {
  const reason = "expected a value that the schema 'not' does not match";
  return (value, run, place) =>
    !branch.check(value, run, null, null) || violates(run, place, reason);
}

function checkIf(schema: Schema, source: CheckerSource): KeywordCheck {
  const condition = source.checkerOf(schema['if']);
  const consequence = schema['then'] === undefined ? null : source.checkerOf(schema['then']);
  const alternative = schema['else'] === undefined ? null : source.checkerOf(schema['else']);
  return (value, run, place, seen) => {
    const evaluated = seen === null ? null : new Evaluated(run);
    const isMet = condition.check(value, run, null, evaluated);
    if (isMet && evaluated !== null) seen?.merge(evaluated);
    const branch = isMet ? consequence : alternative;
    return branch === null || branch.check(value, run, place, seen);
  };
}

function compileDependentSchemas(schema: Schema, source: CheckerSource): KeywordCheck[] {
  const { dependentSchemas } = schema;
  if (!isSchemaObject(dependentSchemas)) return [];
  const dependents = new Dependents(
    Object.entries(dependentSchemas).map(([name, dependent]) => [
      name,
      source.checkerOf(dependent),
    ]),
  );
  return [
    (value, run, place, seen) => {
      if (!isSchemaObject(value)) return true;
      let isValid = true;
      for (const checker of dependents.find(value, run)) {
        if (checker.check(value, run, place, seen)) continue;
        isValid = false;
        if (place === null || run.isFull) return false;
      }
      return isValid;
    },
  ];
}
