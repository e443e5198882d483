import { formOfHeld } from '../../schema/subschema-keywords.js';
import { asObject, isObject, type JsonObject } from '../json-value.js';
import { followJoining, type OpenApiDocument } from './openapi-document.js';

/** Returns the form of the schemas of a keyword, also of one that the host does not know. */
export function formOfSchemas(keyword: string) {
  return keyword === 'contentSchema' ? 'one' : formOfHeld(keyword);
}

/** Keywords of definitions. Used ones are moved into `$defs` of the schema that uses them. */
export const DROPPED_DEFINITIONS: ReadonlySet<string> = new Set(['$defs', 'definitions']);

/** Keywords for documentation, which no check depends on. */
const ANNOTATIONS: ReadonlySet<string> = new Set([
  '$comment',
  'default',
  'deprecated',
  'description',
  'examples',
  'readOnly',
  'title',
  'writeOnly',
]);

export const KEPT_KEYWORDS: ReadonlySet<string> = new Set([
  ...ANNOTATIONS,
  'const',
  'contentEncoding',
  'contentMediaType',
  'dependentRequired',
  'enum',
  'format',
  'maxContains',
  'maxItems',
  'maxLength',
  'maxProperties',
  'minContains',
  'minItems',
  'minLength',
  'minProperties',
  'multipleOf',
  'pattern',
  'uniqueItems',
]);

/**
 * Whether a keyword beside a reference counts. OpenAPI 3.0 ignores those, but authors write texts
 * there, which no check depends on.
 */
export function countsBesideReference(keyword: string, { version }: OpenApiDocument): boolean {
  return version !== '3.0' || ANNOTATIONS.has(keyword) || keyword === 'example';
}

/** Follows references to a schema, with the keywords beside them. */
export function followSchema(document: OpenApiDocument, schema: unknown): JsonObject {
  return followJoining(document, schema, (name) => countsBesideReference(name, document)).value;
}

/** Replaces the schemas that a keyword holds. */
export function mapSchemas(
  keyword: string,
  value: unknown,
  map: (schema: unknown) => unknown,
): unknown {
  const form = formOfSchemas(keyword);
  if (form === 'one') return map(value);
  if (form === 'list' && Array.isArray(value)) return value.map((schema) => map(schema));
  if (form !== 'map') return value;
  const schemas = Object.entries(asObject(value));
  return Object.fromEntries(schemas.map(([name, schema]) => [name, map(schema)]));
}

/** Removes texts, defaults and examples from a schema, which then accepts the same values. */
export function stripAnnotations(schema: JsonObject): JsonObject {
  const strip = (part: unknown): unknown => (isObject(part) ? stripAnnotations(part) : part);
  // A copy of all members also has the marks of those that were left out.
  const stripped: Record<string, unknown> = { ...schema };
  for (const [keyword, value] of Object.entries(schema)) {
    if (ANNOTATIONS.has(keyword)) delete stripped[keyword];
    else stripped[keyword] = mapSchemas(keyword, value, strip);
  }
  return stripped;
}

/** Keywords that have a meaning anywhere in a document. */
const ANYWHERE = new Set(['$anchor', '$dynamicAnchor', '$id', '$ref', '$schema']);

export const LOOKS_LIKE_SCHEMA = 'tools read its members, such as $id, as keywords';

/** Whether validators of OpenAPI documents would treat an example as a schema. */
export function looksLikeSchema(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return Object.entries(value).some(([name, member]) => {
    return ANYWHERE.has(name) || looksLikeSchema(member);
  });
}
