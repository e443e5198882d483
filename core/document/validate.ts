import type { Failure } from 'superstruct';
import {
  describePath,
  isPrintableKey,
  MAX_DIAGNOSTICS,
  type Path,
  type Violation,
} from './diagnostic.js';
import { describeExpected, type Expectation, isBaseType } from './expected.js';
import {
  type AnyStruct,
  findPlace,
  listChildren,
  rootPlace,
  type StructPlace,
} from './struct-walk.js';
import { findNearestName, suggestName } from './suggest.js';

/** Failures looked at: each fault may come with some that only follow from it. */
const MAX_FAILURES = 10 * MAX_DIAGNOSTICS;

export interface ValidationResult {
  /** The value with the struct's defaults; only to be used when there are no faults. */
  readonly value: unknown;
  readonly faults: readonly Violation[];
}

/**
 * Judges a value by a struct and tells all that is wrong, never with a value in the text. `prefix` is
 * where the value stands in its document.
 */
export function validateStruct(
  value: unknown,
  struct: AnyStruct,
  prefix: Path = [],
): ValidationResult {
  try {
    const [error, coerced] = struct.validate(value, { coerce: true });
    if (error === undefined) return { value: coerced, faults: [] };
    const failures = selectMostSpecific(error.failures().slice(0, MAX_FAILURES)).slice(
      0,
      MAX_DIAGNOSTICS,
    );
    const known = rememberKnownKeys(rootPlace(value, struct));
    return { value, faults: failures.map((failure) => explainFailure(failure, known, prefix)) };
  } catch {
    // A struct of a plugin may throw for a value it did not think of; its text may hold that value.
    const message = `${describePath(prefix)} cannot be judged: the check of the plugin failed`;
    return { value, faults: [createViolation('check-failed', message, null, prefix)] };
  }
}

/**
 * Leaves out what only follows: all beneath a value of the wrong type, and a union as a whole where
 * one of its branches says more exactly what is wrong.
 */
function selectMostSpecific(failures: readonly Failure[]): Failure[] {
  const open = new Set<string>();
  for (const failure of failures) {
    if (failure.type === 'union' && hasDeeper(failures, failure)) open.add(keyOf(failure.path));
  }
  const closed = new Set<string>();
  for (const { path, refinement } of failures) {
    if (refinement === undefined && !open.has(keyOf(path))) closed.add(keyOf(path));
  }
  const told = new Set<string>();
  return failures.filter(({ path }) => {
    const key = keyOf(path);
    const isBeneath = path.some((_, length) => closed.has(keyOf(path.slice(0, length))));
    if (isBeneath || open.has(key) || told.has(key)) return false;
    told.add(key);
    return true;
  });
}

function hasDeeper(failures: readonly Failure[], union: Failure): boolean {
  if (Array.isArray(union.value)) return false;
  const { length } = union.path;
  const key = keyOf(union.path);
  return failures.some(
    (failure) => failure.path.length > length && keyOf(failure.path.slice(0, length)) === key,
  );
}

function keyOf(path: Path): string {
  return JSON.stringify(path);
}

function explainFailure(failure: Failure, known: KnownKeys, prefix: Path): Violation {
  const path = failure.path as Path;
  const parent = path.slice(0, -1);
  const key = path.at(-1);
  const full = [...prefix, ...path];
  if (failure.type === 'never' && typeof key === 'string') {
    return explainUnknownKey(key, full, known(parent));
  }
  if (failure.value === undefined && typeof key === 'string') {
    return explainMissingKey(key, full);
  }
  return explainWrongValue(failure, full);
}

function explainUnknownKey(key: string, path: Path, known: readonly string[]): Violation {
  const isPrintable = isPrintableKey(key);
  const name = isPrintable ? `unknown key '${key}'` : 'unknown key';
  const message = name + describeParent(path);
  return createViolation(
    'unknown-key',
    message,
    isPrintable ? suggestName(key, known) : null,
    path,
    'key',
  );
}

/** The keys that the struct knows at a path. */
type KnownKeys = (path: Path) => readonly string[];

/** Each place is walked once, however many of its keys are unknown. */
function rememberKnownKeys(root: StructPlace): KnownKeys {
  const remembered = new Map<string, readonly string[]>();
  return (path) => {
    const key = keyOf(path);
    const before = remembered.get(key);
    if (before !== undefined) return before;
    const place = findPlace(root, path);
    const known = place === null ? [] : listKnownKeys(place);
    remembered.set(key, known);
    return known;
  };
}

function listKnownKeys(parent: StructPlace): string[] {
  return listChildren(parent)
    .filter((child) => child.struct.type !== 'never')
    .map((child) => String(child.path.at(-1)));
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

function explainWrongValue(failure: Failure, path: Path): Violation {
  const expected = describeExpected(failure);
  const rule = isBaseType(failure.type) && !failure.refinement ? 'wrong-type' : 'invalid-value';
  const message = `${describePath(path)} must be ${expected.text}`;
  const hint = path.length === 0 ? null : hintAt(failure.value, expected);
  return createViolation(rule, message, hint, path);
}

function hintAt(value: unknown, expected: Expectation): string | null {
  if (value === null) return 'remove the key or give it a value';
  if (typeof value !== 'string') {
    const isBare = typeof value === 'number' || typeof value === 'boolean';
    return isBare && expected.text.startsWith('a string') ? 'put it in quotes' : null;
  }
  if (expected.text === 'true or false') return hintAtBoolean(value);
  if (/^a (?:whole )?number/.test(expected.text) && /^-?\d+(?:\.\d+)?$/.test(value)) {
    return 'remove the quotes';
  }
  const nearest = findNearestName(value, expected.options);
  return nearest === null ? null : `did you mean '${nearest}'?`;
}

function hintAtBoolean(value: string): string | null {
  if (/^(?:true|yes|on|y)$/i.test(value)) return 'write true, without quotes';
  if (/^(?:false|no|off|n)$/i.test(value)) return 'write false, without quotes';
  return null;
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
