import { isDeeper } from '../lib/json/is-deeper.js';
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

export function isTooDeep(value: unknown): boolean {
  return isDeeper(value, MAX_DEPTH);
}
