import { formOfHeld } from '../../schema/subschema-keywords.js';

/** Returns the form of the schemas of a keyword, also of one that the host does not know. */
export function formOfSchemas(keyword: string) {
  return keyword === 'contentSchema' ? 'one' : formOfHeld(keyword);
}

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
