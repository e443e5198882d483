import { parseJsonNode } from '../document/json-parser.js';
import { readNodeValue, type SyntaxViolation } from '../document/syntax-tree.js';
import { isMapping } from '../lib/read-member.js';
import type { Claims } from './map-claims.js';

/**
 * Rejects duplicate members: JSON.parse uses the last one, other parsers the first. Returns
 * `undefined` for invalid JSON.
 */
export function parsePlainJson(text: string): unknown {
  const violations: SyntaxViolation[] = [];
  try {
    const value = readNodeValue(parseJsonNode(text, violations));
    return violations.length === 0 ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Returns `undefined` unless the text is an object. */
export function parsePlainObject(text: string): Claims | undefined {
  const value = parsePlainJson(text);
  return isMapping(value) ? (value as Claims) : undefined;
}
