import { isMapping as isObject } from '../lib/read-member.js';

export { isObject };

export type JsonObject = Readonly<Record<string, unknown>>;

/** Returns the value if it is a mapping, otherwise an empty mapping. */
export function asObject(value: unknown): JsonObject {
  return isObject(value) ? value : {};
}

export function asList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** Returns the value if it is a text that is not empty. */
export function asText(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/** Deeper than any OpenAPI document in use. */
export const MAX_DEPTH = 200;

/** Whether the value is nested beyond the limit; safe for values of any depth. */
export function isTooDeep(value: unknown): boolean {
  const open: [value: unknown, depth: number][] = [[value, 1]];
  for (let entry = open.pop(); entry !== undefined; entry = open.pop()) {
    const [current, depth] = entry;
    if (typeof current !== 'object' || current === null) continue;
    if (depth > MAX_DEPTH) return true;
    for (const member of Object.values(current)) open.push([member, depth + 1]);
  }
  return false;
}
