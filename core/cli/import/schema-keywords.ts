/** Keywords of JSON Schema 2020-12 whose value is a schema. */
export const SCHEMA_KEYWORDS: ReadonlySet<string> = new Set([
  'additionalProperties',
  'contains',
  'contentSchema',
  'else',
  'if',
  'items',
  'not',
  'propertyNames',
  'then',
  'unevaluatedItems',
  'unevaluatedProperties',
]);

/** Keywords whose value is a list of schemas. */
export const SCHEMA_LIST_KEYWORDS: ReadonlySet<string> = new Set([
  'allOf',
  'anyOf',
  'oneOf',
  'prefixItems',
]);

/** Keywords whose value maps names to schemas. */
export const SCHEMA_MAP_KEYWORDS: ReadonlySet<string> = new Set([
  'dependentSchemas',
  'patternProperties',
  'properties',
]);

/** Keywords of definitions. Used ones are moved into `$defs` of the schema that uses them. */
export const DROPPED_DEFINITIONS: ReadonlySet<string> = new Set(['$defs', 'definitions']);

/** Keywords for documentation, which no check depends on. */
export const ANNOTATIONS: ReadonlySet<string> = new Set([
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
