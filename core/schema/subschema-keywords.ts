import type { JsonPath } from '../lib/json/json-pointer.js';

interface SubschemaKeyword {
  /** The form of its value: a schema, a list of schemas, or a mapping to schemas. */
  readonly holds: 'one' | 'list' | 'map';
  /**
   * Whether the subschemas apply to the same value, to a part of it, or only through a reference.
   */
  readonly appliesTo: 'same' | 'part' | 'nothing';
}

const SAME_LIST = { holds: 'list', appliesTo: 'same' } as const;
const SAME_ONE = { holds: 'one', appliesTo: 'same' } as const;
const PART_ONE = { holds: 'one', appliesTo: 'part' } as const;
const PART_MAP = { holds: 'map', appliesTo: 'part' } as const;

/** The keywords of JSON Schema 2020-12 that hold schemas. */
const SUBSCHEMA_KEYWORDS: Readonly<Record<string, SubschemaKeyword>> = {
  $defs: { holds: 'map', appliesTo: 'nothing' },
  allOf: SAME_LIST,
  anyOf: SAME_LIST,
  oneOf: SAME_LIST,
  not: SAME_ONE,
  if: SAME_ONE,
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
  then: SAME_ONE,
  else: SAME_ONE,
  dependentSchemas: { holds: 'map', appliesTo: 'same' },
  prefixItems: { holds: 'list', appliesTo: 'part' },
  items: PART_ONE,
  contains: PART_ONE,
  properties: PART_MAP,
  patternProperties: PART_MAP,
  additionalProperties: PART_ONE,
  propertyNames: PART_ONE,
  unevaluatedItems: PART_ONE,
  unevaluatedProperties: PART_ONE,
};

/** Returns the form of the schemas of a keyword; `null` for a keyword without schemas. */
export function formOfHeld(keyword: string): SubschemaKeyword['holds'] | null {
  return Object.hasOwn(SUBSCHEMA_KEYWORDS, keyword)
    ? (SUBSCHEMA_KEYWORDS[keyword]?.holds ?? null)
    : null;
}

interface Subschema {
  readonly keyword: string;
  readonly appliesTo: SubschemaKeyword['appliesTo'];
  readonly value: unknown;
  /** The path from the schema that contains it. */
  readonly path: JsonPath;
}

export function listSubschemas(schema: Readonly<Record<string, unknown>>): Subschema[] {
  return Object.keys(schema).flatMap((keyword): Subschema[] => {
    if (!Object.hasOwn(SUBSCHEMA_KEYWORDS, keyword)) return [];
    const { holds, appliesTo } = SUBSCHEMA_KEYWORDS[keyword] as SubschemaKeyword;
    const held = schema[keyword];
    if (holds === 'one') return [{ keyword, appliesTo, value: held, path: [keyword] }];
    if (typeof held !== 'object' || held === null) return [];
    const isList = Array.isArray(held);
    return Object.entries(held).map(([key, value]) => {
      return { keyword, appliesTo, value, path: [keyword, isList ? Number(key) : key] };
    });
  });
}

export function isSchemaObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
