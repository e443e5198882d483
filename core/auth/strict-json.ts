import { parseJsonNode } from '../document/json-parser.js';
import { readNodeValue, type SyntaxViolation } from '../document/syntax-tree.js';
import type { Claims } from './map-claims.js';

/**
 * JSON in which no two readers can see different things: JSON.parse takes the last of two members of one
 * name, others the first. `undefined` for any other text.
 */
export function parsePlainJson(text: string): unknown {
  const faults: SyntaxViolation[] = [];
  try {
    const value = readNodeValue(parseJsonNode(text, faults));
    return faults.length === 0 ? value : undefined;
  } catch {
    return undefined;
  }
}

/** The same where only an object will do. */
export function parsePlainObject(text: string): Claims | undefined {
  const value = parsePlainJson(text);
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
  return isObject ? (value as Claims) : undefined;
}
