import { describePath, MAX_DIAGNOSTICS, type Path, type Violation } from './diagnostic.js';
import { MAX_DEPTH, makeStringifiable, TOO_DEEP } from './syntax-tree.js';

interface PlainCopy {
  /** Valid only without violations. */
  readonly value: unknown;
  readonly violations: readonly Violation[];
}

/** Limits the copy, because a graph with shared parts can exceed the available memory. */
export const MAX_VALUES = 1_000_000;

const TOO_LARGE = {
  rule: 'too-large',
  message: `the document holds more than ${MAX_VALUES} values`,
} as const;

interface Copying {
  readonly violations: Violation[];
  values: number;
}

/**
 * Copies a value that the code of a module returned as JSON. The copy contains only plain data;
 * `undefined` members are omitted, as by JSON.stringify.
 */
export function copyPlainJson(value: unknown): PlainCopy {
  const copying: Copying = { violations: [], values: 0 };
  const copy = copyValue(value, [], copying);
  return { value: copy, violations: copying.violations };
}

function copyValue(value: unknown, path: Path, copying: Copying): unknown {
  copying.values += 1;
  if (copying.values > MAX_VALUES) return rejectOnce(copying, TOO_LARGE);
  if (path.length > MAX_DEPTH + 1) return reject(copying, TOO_DEEP.rule, TOO_DEEP.message, path);
  if (value === null || typeof value === 'boolean') return value;
  if (typeof value === 'number') return copyNumber(value, path, copying);
  if (typeof value === 'string') return copyString(value, path, copying);
  if (Array.isArray(value)) return copyList(value, path, copying);
  if (typeof value === 'object' && isPlain(value)) return copyMapping(value, path, copying);
  return reject(copying, 'not-json', `${describePath(path)} must be JSON`, path);
}

function copyList(value: readonly unknown[], path: Path, copying: Copying): unknown[] {
  const copy: unknown[] = [];
  for (const [index, item] of value.entries()) {
    if (copying.values > MAX_VALUES) break;
    copy.push(copyValue(item, [...path, index], copying));
  }
  return copy;
}

function copyMapping(value: object, path: Path, copying: Copying): unknown {
  const copy: Record<string, unknown> = {};
  for (const [key, member] of Object.entries(value)) {
    if (copying.values > MAX_VALUES) break;
    if (member === undefined) continue;
    if (key === '__proto__') {
      reject(copying, 'forbidden-key', "the key '__proto__' is not allowed", path);
    } else if (copyString(key, path, copying) !== null) {
      copy[key] = copyValue(member, [...path, key], copying);
    }
  }
  return makeStringifiable(copy);
}

function copyNumber(value: number, path: Path, copying: Copying): number | null {
  if (Number.isFinite(value)) return value;
  return reject(
    copying,
    'non-finite-number',
    `${describePath(path)} must be a finite number`,
    path,
  );
}

function copyString(value: string, path: Path, copying: Copying): string | null {
  if (value.isWellFormed()) return value;
  const message = `${describePath(path)} holds half of a surrogate pair, which is not a character`;
  return reject(copying, 'lone-surrogate', message, path);
}

function rejectOnce(copying: Copying, { rule, message }: { rule: string; message: string }): null {
  if (copying.violations.some((violation) => violation.rule === rule)) return null;
  return reject(copying, rule, message, []);
}

function reject(copying: Copying, rule: string, message: string, path: Path): null {
  if (copying.violations.length < MAX_DIAGNOSTICS) {
    copying.violations.push({ rule, message, hint: null, path, at: 'value' });
  }
  return null;
}

function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}
