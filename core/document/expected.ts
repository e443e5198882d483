import type { Failure } from 'superstruct';

export interface Expectation {
  /** Reads on after `must be`. */
  readonly text: string;
  /** What the value may be, where that is a list of words. */
  readonly options: readonly string[];
}

/** superstruct's own types in words; the name of any other struct is taken as its words. */
const BASE_TYPES: Readonly<Record<string, string>> = {
  any: 'a value',
  array: 'a list',
  boolean: 'true or false',
  integer: 'a whole number',
  never: 'absent',
  number: 'a number',
  object: 'a mapping',
  record: 'a mapping',
  string: 'a string',
  tuple: 'a list',
  type: 'a mapping',
};

const OWN_REFINEMENTS = new Set(['max', 'min', 'pattern', 'size']);
const SHAPELESS = new Set(['dynamic', 'enums', 'intersection', 'lazy', 'literal', 'union']);

export function isBaseType(type: string): boolean {
  return Object.hasOwn(BASE_TYPES, type);
}

/** Built from names and from what superstruct's texts say before they come to the value. */
export function describeExpected(failure: Failure): Expectation {
  if (failure.refinement !== undefined) return worded(describeRefinement(failure));
  if (failure.type === 'enums' || failure.type === 'literal') return describeOptions(failure);
  if (failure.type === 'union') return worded(describeUnion(failure));
  return worded(describeType(failure.type));
}

/** The refinements of others are described by their name alone: nobody knows what their text holds. */
function describeRefinement(failure: Failure): string {
  const { refinement = '', type } = failure;
  if (refinement === 'nonempty') return `${describeType(type)} that is not empty`;
  if (refinement === 'empty') return `${describeType(type)} that is empty`;
  if (!OWN_REFINEMENTS.has(refinement)) return withArticle(refinement);
  const bound = readConstant(failure, /^Expected an? \S+ (.+?),? but received/s);
  return bound === null ? 'another value' : `${describeType(type)} ${bound.replaceAll('`', '')}`;
}

function describeOptions(failure: Failure): Expectation {
  const constants = readConstant(
    failure,
    /^Expected (?:one of|the literal) `(.+?)`, but received/s,
  );
  try {
    const options = (JSON.parse(`[${constants}]`) as unknown[]).map(String);
    const text = options.join(', ');
    return options.length === 1 ? worded(`'${text}'`) : { text: `one of ${text}`, options };
  } catch {
    return worded('one of the values known here');
  }
}

function describeUnion(failure: Failure): string {
  const types = readConstant(failure, /^Expected the value to satisfy a union of `(.+?)`, but/s);
  const named = (types ?? '').split(' | ').filter((type) => type !== '' && !SHAPELESS.has(type));
  return named.length === 0 ? 'another value' : [...new Set(named.map(describeType))].join(' or ');
}

function readConstant(failure: Failure, pattern: RegExp): string | null {
  return pattern.exec(failure.message)?.[1] ?? null;
}

function describeType(type: string): string {
  return BASE_TYPES[type] ?? withArticle(type);
}

function withArticle(name: string): string {
  if (/^(?:an?|the|one|true|absent|exactly|at) |^'/.test(name)) return name;
  return /^(?:[aeio]|http)/i.test(name) ? `an ${name}` : `a ${name}`;
}

function worded(text: string): Expectation {
  return { text, options: [] };
}
