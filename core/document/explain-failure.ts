import type { Failure } from 'superstruct';
import type { AnyStruct } from '../contract/described.js';
import { describePath, isPrintableKey, type Path, type Violation } from './diagnostic.js';
import { describeExpected, describeUnion, type Expectation, isBaseType } from './expected.js';
import { findNearestName, suggestName } from './suggest.js';

/** The violation for a failure of superstruct; `prefix` is the place of the value in its document. */
export function explainFailure(failure: Failure, prefix: Path): Violation {
  const path = [...prefix, ...(failure.path as Path)];
  const key = failure.path.at(-1);
  if (failure.type === 'never' && typeof key === 'string') {
    return explainUnknownKey(key, path, new Map());
  }
  if (failure.value === undefined && typeof key === 'string') return explainMissingKey(key, path);
  return explainWrongValue(failure, describeExpected(failure), path);
}

/** The violation for a value that no branch of a union accepts. */
export function explainUnion(
  first: Failure,
  branches: readonly Failure[],
  prefix: Path,
): Violation {
  const path = [...prefix, ...(first.path as Path)];
  const key = first.path.at(-1);
  if (first.value === undefined && typeof key === 'string') return explainMissingKey(key, path);
  return explainWrongValue(first, describeUnion(branches), path);
}

/** `known` holds the structs of the keys that the mapping may have. */
export function explainUnknownKey(
  key: string,
  path: Path,
  known: ReadonlyMap<string, AnyStruct>,
): Violation {
  const isPrintable = isPrintableKey(key);
  const message = (isPrintable ? `unknown key '${key}'` : 'unknown key') + describeParent(path);
  const hint = isPrintable ? hintAtKey(key, known) : null;
  return createViolation('unknown-key', message, hint, path, 'key');
}

/** The key may be in the wrong mapping, often by its indentation. */
function hintAtKey(key: string, known: ReadonlyMap<string, AnyStruct>): string | null {
  const owner = [...known].find(([, { type, schema }]) => {
    return type === 'object' && Object.hasOwn((schema ?? {}) as object, key);
  });
  if (owner !== undefined) return `move it into '${owner[0]}'`;
  return suggestName(key, [...known.keys()]);
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

function explainWrongValue(failure: Failure, expected: Expectation, path: Path): Violation {
  const isWrongType = isBaseType(failure.type) && failure.refinement === undefined;
  const rule = isWrongType ? 'wrong-type' : 'invalid-value';
  const message = `${describePath(path)} must be ${expected.text}`;
  const hint = path.length === 0 ? null : hintAtValue(failure.value, expected);
  return createViolation(rule, message, hint, path);
}

function hintAtValue(value: unknown, expected: Expectation): string | null {
  if (value === null) return 'remove the key or give it a value';
  if (typeof value !== 'string') {
    const isBare = typeof value === 'number' || typeof value === 'boolean';
    return isBare && expected.text.startsWith('a string') ? 'put it in quotes' : null;
  }
  if (expected.text === 'true or false') return hintAtBoolean(value);
  if (/^a (?:whole )?number/.test(expected.text) && /^-?\d+(?:\.\d+)?$/.test(value)) {
    return 'remove the quotes';
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
