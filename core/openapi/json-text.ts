import type { RouteExample } from '../contract/index.js';
import { writeLongIntegers } from '../lib/json/long-integers.js';

/** Printable ASCII without a quote or a backslash, which needs no escapes. */
const UNESCAPED = /^[ !#-[\]-~]*$/;

export function jsonText(value: unknown): string {
  if (typeof value === 'string' && UNESCAPED.test(value)) return `"${value}"`;
  const json = JSON.stringify(value);
  return typeof value === 'string' ? json : writeLongIntegers(json);
}

/**
 * Returns the member `examples` with a leading comma, as JSON text; empty without examples.
 * @param show returns the value of an example; `undefined` omits it
 */
export function writeExamples(
  examples: readonly RouteExample[] | undefined,
  show: (example: RouteExample) => unknown,
): string {
  if (examples === undefined) return '';
  const entries = examples.flatMap((example) => {
    const value = show(example);
    return value === undefined ? [] : [[example.name, { value }]];
  });
  return entries.length === 0 ? '' : `,"examples":${jsonText(Object.fromEntries(entries))}`;
}
