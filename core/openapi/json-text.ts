import type { RouteExample } from '../contract/index.js';

/** Printable ASCII without a quote or a backslash: nothing of it is escaped. */
const UNESCAPED = /^[ !#-[\]-~]*$/;

/** JSON text of a value that JSON has. */
export function jsonText(value: unknown): string {
  if (typeof value === 'string' && UNESCAPED.test(value)) return `"${value}"`;
  return JSON.stringify(value);
}

/**
 * The member `examples` after another one, as JSON text; empty without any.
 * @param show the value of an example; `undefined` leaves it out
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
