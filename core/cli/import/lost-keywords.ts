import type { Path } from '../../document/diagnostic.js';
import { readSharedName } from '../../schema/shared-schemas.js';
import { isObject, type JsonObject } from '../json-value.js';
import { formOfSchemas, mapSchemas } from './schema-keywords.js';

/** The keywords that were left out of a schema. JSON does not contain the mark. */
const LOST = Symbol('lost keywords');

/** Marks a schema from which keywords were left out. */
export function markLost(schema: JsonObject, keywords: Iterable<string>): JsonObject {
  const lost = new Set([...lostOf(schema), ...keywords]);
  return lost.size === 0 ? schema : { ...schema, [LOST]: lost };
}

export function lostOf(schema: object): ReadonlySet<string> {
  return (schema as { [LOST]?: ReadonlySet<string> })[LOST] ?? new Set();
}

/** Returns a schema without the keyword at a path, or without a name below it, and marks the loss. */
export function withoutKeyword(schema: unknown, [keyword, ...rest]: Path): unknown {
  if (!isObject(schema) || typeof keyword !== 'string' || !(keyword in schema)) return schema;
  const { [keyword]: value, ...others } = schema;
  const [key, ...inner] = rest;
  const form = formOfSchemas(keyword);
  if (form === null || key === undefined) return markLost(others, [keyword]);
  const replace = (replaced: unknown) => markLost({ ...schema, [keyword]: replaced }, []);
  if (form === 'one') return replace(withoutKeyword(value, rest));
  if (Array.isArray(value) && inner.length > 0) {
    return replace(
      value.map((item, index) => (index === key ? withoutKeyword(item, inner) : item)),
    );
  }
  if (!isObject(value)) return markLost(others, [keyword]);
  const { [key]: member, ...members } = value;
  if (inner.length === 0) return markLost({ ...others, [keyword]: members }, [keyword]);
  return replace({ ...members, [key]: withoutKeyword(member, inner) });
}

/** Returns a schema without references to some shared schemas, and marks the loss. */
export function cutReferences<T>(schema: T, isCut: (name: string) => boolean): T {
  let isChanged = false;
  const cut = (part: unknown): unknown => {
    if (!isObject(part)) return part;
    const entries = Object.entries(part).map(([keyword, value]): [string, unknown] => {
      return [keyword, mapSchemas(keyword, value, cut)];
    });
    const copy = markLost(Object.fromEntries(entries), lostOf(part));
    const name = readSharedName(part['$ref']);
    if (name === null || !isCut(name)) return copy;
    isChanged = true;
    return withoutKeyword(copy, ['$ref']);
  };
  const remaining = cut(schema);
  return isChanged ? (remaining as T) : schema;
}

/** Whether a schema, or one within it, has lost a keyword. */
export function hasLost(schema: unknown): boolean {
  if (!isObject(schema)) return false;
  if (lostOf(schema).size > 0) return true;
  let isFound = false;
  for (const [keyword, value] of Object.entries(schema)) {
    mapSchemas(keyword, value, (part) => {
      isFound ||= hasLost(part);
      return part;
    });
  }
  return isFound;
}
