import { asObject, isObject, type JsonObject } from '../json-value.js';
import { ANNOTATIONS, formOfSchemas } from './schema-keywords.js';

/** Removes texts, defaults and examples from a schema, which then accepts the same values. */
export function stripAnnotations(schema: JsonObject): JsonObject {
  return strip(schema) as JsonObject;
}

function strip(schema: unknown): unknown {
  if (!isObject(schema)) return schema;
  const members = Object.entries(schema).filter(([keyword]) => !ANNOTATIONS.has(keyword));
  return Object.fromEntries(
    members.map(([keyword, value]) => [keyword, stripMember(keyword, value)]),
  );
}

function stripMember(keyword: string, value: unknown): unknown {
  const form = formOfSchemas(keyword);
  if (form === 'one') return strip(value);
  if (form === 'list' && Array.isArray(value)) return value.map(strip);
  if (form !== 'map') return value;
  const schemas = Object.entries(asObject(value));
  return Object.fromEntries(schemas.map(([name, schema]) => [name, strip(schema)]));
}
