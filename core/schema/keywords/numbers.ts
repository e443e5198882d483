import { type KeywordCheck, violates } from '../checker.js';
import { isMultipleOf } from '../multiple-of.js';

type Holds = (value: number, bound: number) => boolean;

const BOUNDS: Readonly<Record<string, readonly [expected: string, holds: Holds]>> = {
  minimum: ['at least', (value, bound) => value >= bound],
  exclusiveMinimum: ['more than', (value, bound) => value > bound],
  maximum: ['at most', (value, bound) => value <= bound],
  exclusiveMaximum: ['less than', (value, bound) => value < bound],
  multipleOf: ['a multiple of', isMultipleOf],
};

export function compileNumberKeywords(
  schema: Readonly<Record<string, unknown>>,
): KeywordCheck<number>[] {
  return Object.entries(BOUNDS).flatMap(([keyword, [expected, holds]]): KeywordCheck<number>[] => {
    const bound = schema[keyword];
    if (typeof bound !== 'number') return [];
    const reason = `expected ${expected} ${bound}`;
    return [(value, run, at) => holds(value, bound) || violates(run, at, reason)];
  });
}
