import { array } from 'superstruct';
import { converted, matching } from '../contract/described.js';
import type { Violation } from '../document/diagnostic.js';
import { HEADER_NAME } from '../lib/header-names.js';

/** Names of headers, in lower case. */
export const headerNames = array(
  converted(matching('the name of a header', HEADER_NAME), (name) => name.toLowerCase()),
);

interface DeniedNames {
  /** The rule that a denied name violates. */
  readonly rule: string;
  /** @returns why a name is denied; `null` if it is not */
  readonly explain: (name: string) => string | null;
}

/** Skips holes, which replace names that the struct has rejected. */
export function validateHeaderNames(
  names: readonly string[],
  parent: readonly string[],
  { rule, explain }: DeniedNames,
): Violation[] {
  const seen = new Set<string>();
  return names.flatMap((name, index): Violation[] => {
    const path = [...parent, index];
    const subject = `'${parent.join('.')}[${index}]'`;
    const reason = explain(name);
    const isRepeated = seen.has(name.toLowerCase());
    seen.add(name.toLowerCase());
    if (reason !== null) {
      const message = `${subject}: ${reason}`;
      return [{ rule, message, hint: 'remove it', path, at: 'value' }];
    }
    if (!isRepeated) return [];
    const message = `${subject} is listed twice`;
    return [{ rule: 'duplicate-header', message, hint: 'remove it', path, at: 'value' }];
  });
}
