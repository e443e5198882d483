import type { Failure } from 'superstruct';

export interface Expectation {
  /** Completes `must be …`. */
  readonly text: string;
  /** The allowed values, where the struct lists them. */
  readonly options: readonly string[];
}

/** superstruct's own types in words; the name of any other struct is used as it is. */
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

const BOUNDS = new Set(['max', 'min', 'pattern', 'size']);
const UNNAMED = new Set(['dynamic', 'enums', 'intersection', 'lazy', 'literal', 'union']);

export function isBaseType(type: string): boolean {
  return Object.hasOwn(BASE_TYPES, type);
}

export function describeExpected(failure: Failure): Expectation {
  if (failure.refinement !== undefined) return { text: describeRefinement(failure), options: [] };
  if (failure.type === 'enums') return describeOptions(readStated(failure, 'one of '));
  if (failure.type === 'literal') return describeOptions(readStated(failure, 'the literal '));
  return { text: describeType(failure.type), options: [] };
}

/** What the branches of a union expect, from their failures at one place. */
export function describeUnion(failures: readonly Failure[]): Expectation {
  const types = failures.map(({ type }) => type).filter((type) => !UNNAMED.has(type));
  const names = [...new Set(types.map(describeType))];
  return { text: names.length === 0 ? 'another value' : names.join(' or '), options: [] };
}

/** Refinements of plugins are described by their name alone: their text may hold the value. */
function describeRefinement(failure: Failure): string {
  const { refinement = '', type } = failure;
  if (refinement === 'nonempty') return `${describeType(type)} that is not empty`;
  if (refinement === 'empty') return `${describeType(type)} that is empty`;
  if (!BOUNDS.has(refinement)) return withArticle(refinement);
  return `${describeType(type)} ${readStated(failure, `a ${type} `)}`;
}

function describeOptions(stated: string): Expectation {
  const options = (JSON.parse(`[${stated}]`) as unknown[]).map(String);
  const text = options.length === 1 ? `'${options[0]}'` : `one of ${options.join(', ')}`;
  return { text, options: options.length === 1 ? [] : options };
}

/**
 * superstruct states the options and bounds of its own structs only in its message, ahead of the value:
 * "Expected a number greater than or equal to 1 but received `0`".
 */
function readStated({ message }: Failure, start: string): string {
  const [stated = ''] = message.slice('Expected '.length + start.length).split(' but received', 1);
  return stated.replaceAll('`', '').replace(/,$/, '');
}

function describeType(type: string): string {
  return BASE_TYPES[type] ?? withArticle(type);
}

function withArticle(name: string): string {
  if (/^(?:an?|the|one|true|absent|exactly|at) |^'/.test(name)) return name;
  return /^(?:[aeio]|http)/i.test(name) ? `an ${name}` : `a ${name}`;
}
