import { type CheckerSource, type KeywordCheck, violates } from '../checker.js';
import { equalJson } from '../equal-json.js';
import { createMultipleCheck } from '../multiple-of.js';
import type { Run } from '../run.js';
import { sizeReason } from './size-reason.js';

type Holds = (value: number, bound: number) => boolean;

const BOUNDS: Readonly<Record<string, readonly [expected: string, holds: Holds]>> = {
  minimum: ['at least', (value, bound) => value >= bound],
  exclusiveMinimum: ['more than', (value, bound) => value > bound],
  maximum: ['at most', (value, bound) => value <= bound],
  exclusiveMaximum: ['less than', (value, bound) => value < bound],
};

export function compileNumberKeywords(
  schema: Readonly<Record<string, unknown>>,
): KeywordCheck<number>[] {
  return [...compileBounds(schema), ...compileMultiple(schema)];
}

function compileBounds(schema: Readonly<Record<string, unknown>>): KeywordCheck<number>[] {
  return Object.entries(BOUNDS).flatMap(([keyword, [expected, holds]]): KeywordCheck<number>[] => {
    const bound = schema[keyword];
    if (typeof bound !== 'number') return [];
    const reason = `expected ${expected} ${bound}`;
    return [(value, run, place) => holds(value, bound) || violates(run, place, reason)];
  });
}

function compileMultiple({
  multipleOf,
}: Readonly<Record<string, unknown>>): KeywordCheck<number>[] {
  if (typeof multipleOf !== 'number') return [];
  const reason = `expected a multiple of ${multipleOf}`;
  const isMultiple = createMultipleCheck(multipleOf);
  return [(value, run, place) => isMultiple(value) || violates(run, place, reason)];
}

/** The number of characters that are counted in the time of visiting one member. */
const CHARACTERS_PER_LOOK = 16;

export function compileStringKeywords(
  { maxLength, minLength, pattern }: Readonly<Record<string, unknown>>,
  source: CheckerSource,
): KeywordCheck<string>[] {
  const checks: KeywordCheck<string>[] = [];
  if (typeof maxLength === 'number') {
    const reason = sizeReason('at most', maxLength, 'character');
    checks.push(
      (value, run, place) => isAtMost(value, maxLength, run) || violates(run, place, reason),
    );
  }
  if (typeof minLength === 'number' && minLength > 0) {
    const reason = sizeReason('at least', minLength, 'character');
    checks.push(
      (value, run, place) => !isAtMost(value, minLength - 1, run) || violates(run, place, reason),
    );
  }
  if (typeof pattern === 'string') {
    const matcher = source.matcherOf(pattern);
    const reason = 'expected a text that matches the pattern';
    checks.push((value, run, place) => matcher.test(value, run) || violates(run, place, reason));
  }
  return checks;
}

/** Counts code points only if the number of code units does not decide. */
function isAtMost(text: string, limit: number, run: Run): boolean {
  if (text.length <= limit) return true;
  if (text.length > 2 * limit) return false;
  run.look(text.length / CHARACTERS_PER_LOOK);
  let count = 0;
  for (let index = 0; index < text.length; index += 1) {
    if ((text.codePointAt(index) ?? 0) > 0xffff) index += 1;
    count += 1;
  }
  return count <= limit;
}

const MAX_LISTED = 10;
const MAX_LISTED_LENGTH = 200;

/** `enum` and `const`. */
export function compileValueKeywords(schema: Readonly<Record<string, unknown>>): KeywordCheck[] {
  const lists: (readonly unknown[])[] = [];
  if (Array.isArray(schema['enum'])) lists.push(schema['enum']);
  if (Object.hasOwn(schema, 'const')) lists.push([schema['const']]);
  return lists.map((values) => {
    const simple = new Set(values.filter((value) => !isNested(value)));
    const nested = values.filter(isNested);
    const reason = describeValues(values);
    return (value, run, place) => {
      if (simple.has(value)) return true;
      if (isNested(value)) {
        run.spend(nested.length);
        const onCompare = () => run.look(1);
        if (nested.some((allowed) => equalJson(allowed, value, onCompare))) return true;
      }
      return violates(run, place, reason);
    };
  });
}

function isNested(value: unknown): boolean {
  return typeof value === 'object' && value !== null;
}

function describeValues(values: readonly unknown[]): string {
  const text = values.map((value) => JSON.stringify(value)).join(', ');
  if (values.length > MAX_LISTED || text.length > MAX_LISTED_LENGTH) {
    return `expected one of ${values.length} values`;
  }
  return values.length === 1 ? `expected ${text}` : `expected one of ${text}`;
}
