import { MAX_DEPTH, MAX_KEYS, makeStringifiable } from './syntax-tree.js';
import type { TextLimits } from './text-limits.js';

const SPACE = /\s/;

/**
 * Returns the value of a JSON text within all limits, and `undefined` for a text that may be
 * rejected: the tree with positions decides, and says why. Takes a fourth of the time of that tree,
 * which only messages need.
 */
export function readJsonValue(text: string, { values }: Pick<TextLimits, 'values'>): unknown {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  const check = new ValueCheck(values);
  // Of repeated members, `JSON.parse` keeps the last one.
  return check.accepts(value, 0) && check.members === countMembers(text) ? value : undefined;
}

class ValueCheck {
  members = 0;
  #remaining: number;

  constructor(maxValues: number) {
    this.#remaining = maxValues;
  }

  accepts(value: unknown, depth: number): boolean {
    this.#remaining -= 1;
    if (this.#remaining < 0 || depth > MAX_DEPTH) return false;
    if (typeof value === 'string') return value.isWellFormed();
    if (typeof value === 'number') return Number.isFinite(value);
    if (typeof value !== 'object' || value === null) return true;
    if (Array.isArray(value)) return value.every((item) => this.accepts(item, depth + 1));
    return this.#acceptsMembers(value as Readonly<Record<string, unknown>>, depth);
  }

  #acceptsMembers(value: Readonly<Record<string, unknown>>, depth: number): boolean {
    const keys = Object.keys(value);
    if (keys.length > MAX_KEYS) return false;
    this.members += keys.length;
    for (const key of keys) {
      if (key === '__proto__' || !key.isWellFormed()) return false;
      if (!this.accepts(value[key], depth + 1)) return false;
    }
    makeStringifiable(value);
    return true;
  }
}

/** The members of all mappings of a valid JSON text, repeated ones included. */
function countMembers(json: string): number {
  let members = 0;
  for (let start = json.indexOf('"'); start !== -1; ) {
    let end = findStringEnd(json, start);
    while (SPACE.test(json.charAt(end))) end += 1;
    if (json.charAt(end) === ':') members += 1;
    start = json.indexOf('"', end);
  }
  return members;
}

/** The offset behind the string that starts at a quotation mark. */
function findStringEnd(json: string, start: number): number {
  for (let end = json.indexOf('"', start + 1); ; end = json.indexOf('"', end + 1)) {
    let content = end;
    while (json.charAt(content - 1) === '\\') content -= 1;
    // An even number of backslashes are escaped ones.
    if ((end - content) % 2 === 0) return end + 1;
  }
}
