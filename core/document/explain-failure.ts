import type { Failure } from 'superstruct';
import type { AnyStruct } from '../contract/described.js';
import { describePath, isPrintableKey, type Path, type Violation } from './diagnostic.js';
import { hintAtCharacters } from './hint-at-characters.js';
import { findNearestName, suggestName } from './suggest.js';

/** Descriptions of superstruct's own types; other structs are described by their name. */
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

/**
 * @param prefix the path of the value in its document
 * @param isQuotable whether the value would be accepted in quotes
 */
export function explainFailure(failure: Failure, prefix: Path, isQuotable: boolean): Violation {
  const path = [...prefix, ...(failure.path as Path)];
  const key = failure.path.at(-1);
  if (failure.type === 'never' && typeof key === 'string') {
    return explainUnknownKey(key, path, new Map());
  }
  if (failure.value === undefined && typeof key === 'string') return explainMissingKey(key, path);
  return explainWrongValue(failure, describeExpected(failure), path, isQuotable);
}

/** Creates the violation for a value that no branch of a union accepts. */
export function explainUnion(
  first: Failure,
  branches: readonly Failure[],
  prefix: Path,
  isQuotable: boolean,
): Violation {
  const path = [...prefix, ...(first.path as Path)];
  const key = first.path.at(-1);
  if (first.value === undefined && typeof key === 'string') return explainMissingKey(key, path);
  return explainWrongValue(first, describeUnion(branches), path, isQuotable);
}

/** @param knownKeys the structs of the keys that the mapping may have */
export function explainUnknownKey(
  key: string,
  path: Path,
  knownKeys: ReadonlyMap<string, AnyStruct>,
): Violation {
  const isPrintable = isPrintableKey(key);
  const message = (isPrintable ? `unknown key '${key}'` : 'unknown key') + describeParent(path);
  const hint = isPrintable ? hintAtKey(key, knownKeys) : hintAtCharacters(key);
  return createViolation('unknown-key', message, hint, path, 'key');
}

/** The key may be in the wrong mapping, often by its indentation. */
function hintAtKey(key: string, knownKeys: ReadonlyMap<string, AnyStruct>): string | null {
  const owner = [...knownKeys].find(([, { type, schema }]) => {
    return type === 'object' && Object.hasOwn((schema ?? {}) as object, key);
  });
  if (owner !== undefined) return `move it into '${owner[0]}'`;
  return suggestName(key, [...knownKeys.keys()]);
}

function explainMissingKey(key: string, path: Path): Violation {
  const message = `missing key '${key}'${describeParent(path)}`;
  return {
    ...createViolation('missing-key', message, null, path.slice(0, -1), 'key'),
    missing: key,
  };
}

function describeParent(path: Path): string {
  return path.length === 1 ? '' : ` in ${describePath(path.slice(0, -1))}`;
}

function explainWrongValue(
  failure: Failure,
  expected: Expectation,
  path: Path,
  isQuotable: boolean,
): Violation {
  const isWrongType = isBaseType(failure.type) && failure.refinement === undefined;
  const rule = isWrongType ? 'wrong-type' : 'invalid-value';
  const message = `${describePath(path)} must be ${expected.text}`;
  const hint = path.length === 0 ? null : hintAtValue(failure.value, expected, isQuotable);
  return createViolation(rule, message, hint, path);
}

/** `${HOST}`, `$HOST` or `{{ host }}`. */
const VARIABLE = /\$\{?\w|\{\{/;

function hintAtValue(value: unknown, expected: Expectation, isQuotable: boolean): string | null {
  if (value === null) return 'remove the key or give it a value';
  if (typeof value !== 'string') {
    // Where numbers are accepted as well, it is the number that is wrong.
    const takesNumbers = /number/.test(expected.text) || expected.options.length > 0;
    return isQuotable && !takesNumbers ? 'put it in quotes' : null;
  }
  const characters = hintAtCharacters(value);
  if (characters !== null) return characters;
  if (expected.text === 'true or false') return hintAtBoolean(value);
  if (/^a (?:whole )?number/.test(expected.text) && /^-?\d+(?:\.\d+)?$/.test(value)) {
    return 'remove the quotes';
  }
  if (/\burl\b|:\/\//i.test(expected.text) && VARIABLE.test(value)) {
    return 'write the value itself: variables are not replaced';
  }
  if (/^an? https? or https? url/i.test(expected.text)) return hintAtUrl(value);
  const nearest = findNearestName(value, expected.options);
  return nearest === null ? null : `did you mean '${nearest}'?`;
}

function hintAtBoolean(value: string): string | null {
  if (/^(?:true|yes|on|y)$/i.test(value)) return 'write true, without quotes';
  if (/^(?:false|no|off|n)$/i.test(value)) return 'write false, without quotes';
  return null;
}

function hintAtUrl(value: string): string | null {
  if (!/^https?:\/\//i.test(value)) return 'start it with http:// or https://';
  const [, port] = /^https?:\/\/[^/?#@]*:(\d+)(?:[/?#]|$)/i.exec(value) ?? [];
  return port !== undefined && Number(port) > 65_535 ? 'the port is at most 65535' : null;
}

function createViolation(
  rule: string,
  message: string,
  hint: string | null,
  path: Path,
  at: Violation['at'] = 'value',
): Violation {
  return { rule, message, hint, path, at };
}

interface Expectation {
  /** Completes `must be …`. */
  readonly text: string;
  /** The allowed values, if the struct lists them. */
  readonly options: readonly string[];
}

function isBaseType(type: string): boolean {
  return Object.hasOwn(BASE_TYPES, type);
}

function describeExpected(failure: Failure): Expectation {
  if (failure.refinement !== undefined) return { text: describeRefinement(failure), options: [] };
  if (failure.type === 'enums') return describeOptions(readStated(failure, 'one of '));
  if (failure.type === 'literal') return describeOptions(readStated(failure, 'the literal '));
  return { text: describeType(failure.type), options: [] };
}

/** Describes what the branches of a union expect, from their failures at one path. */
function describeUnion(failures: readonly Failure[]): Expectation {
  const types = failures.map(({ type }) => type).filter((type) => !UNNAMED.has(type));
  const names = [...new Set(types.map(describeType))];
  return { text: names.length === 0 ? 'another value' : names.join(' or '), options: [] };
}

/** Describes refinements of plugins by name alone, because their text may contain the value. */
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
 * Parses the message, because superstruct states the options and bounds of its structs nowhere
 * else: "Expected a number greater than or equal to 1 but received `0`".
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
