import { isObject, type JsonObject } from '../json-value.js';

const isText = (value: unknown) => typeof value === 'string';
const isFlag = (value: unknown) => typeof value === 'boolean';
const isAny = () => true;

/** The keywords without schemas that decide a type or its comment. */
const VALUES: Readonly<Record<string, (value: unknown) => boolean>> = {
  type: (value) => isText(value) || Array.isArray(value),
  const: isAny,
  enum: Array.isArray,
  required: Array.isArray,
  title: isText,
  description: isText,
  format: isText,
  default: isAny,
  deprecated: isFlag,
  readOnly: isFlag,
};

const SCHEMAS = ['items', 'additionalProperties'];
const LISTS = ['allOf', 'anyOf', 'oneOf', 'prefixItems'];
const MAPS = ['properties', 'patternProperties'];

/** The keywords that openapi-typescript unites with `anyOf` and `oneOf` beside them. */
const STRUCTURE = [
  'type',
  'allOf',
  'enum',
  'items',
  'prefixItems',
  'additionalProperties',
  ...MAPS,
];

const SCHEMA_REFERENCE = '#/components/schemas/';

/**
 * Returns the parts of a schema that its type depends on, in a form that openapi-typescript gives
 * the right type: it cannot read `true` in `allOf`, takes alternatives beside other keywords as
 * further alternatives, and gives other members than those of `properties` a type that they contradict.
 */
export function cleanSchema(schema: unknown): unknown {
  if (!isObject(schema)) return schema !== false;
  const { $ref: reference } = schema;
  if (reference !== undefined) return isText(reference) ? cleanReference(String(reference)) : true;
  const values = Object.entries(schema).filter(
    ([name, value]) => Object.hasOwn(VALUES, name) && VALUES[name]?.(value) === true,
  );
  return separateAlternatives(
    loosenOthers({ ...Object.fromEntries(values), ...cleanSubschemas(schema) }),
  );
}

function cleanReference(reference: string): unknown {
  return reference.startsWith(SCHEMA_REFERENCE) ? { $ref: reference } : true;
}

function cleanSubschemas(schema: JsonObject): JsonObject {
  const cleaned: Record<string, unknown> = {};
  for (const name of SCHEMAS) {
    if (schema[name] !== undefined) cleaned[name] = cleanSchema(schema[name]);
  }
  for (const name of LISTS) {
    const list = schema[name];
    if (Array.isArray(list)) cleaned[name] = list.map(cleanSchema);
  }
  for (const name of MAPS) {
    const map = schema[name];
    if (!isObject(map)) continue;
    cleaned[name] = Object.fromEntries(
      Object.entries(map).map(([key, member]) => [key, cleanSchema(member)]),
    );
  }
  const parts = cleaned['allOf'];
  if (Array.isArray(parts)) {
    // Conditions have no type.
    const typed = parts.filter((part) => isObject(part) && Object.keys(part).length > 0);
    if (typed.length > 0) cleaned['allOf'] = typed;
    else delete cleaned['allOf'];
  }
  return cleaned;
}

/** Members beside known ones may be anything. */
function loosenOthers(schema: JsonObject): JsonObject {
  const { properties, additionalProperties: others, patternProperties, ...rest } = schema;
  const hasOthers = isObject(others) || patternProperties !== undefined;
  if (!isObject(properties) || Object.keys(properties).length === 0 || !hasOthers) return schema;
  return { ...rest, properties, additionalProperties: true };
}

function separateAlternatives(schema: JsonObject): JsonObject {
  return ['anyOf', 'oneOf'].reduce((current, name) => {
    const { [name]: alternatives, ...rest } = current;
    if (alternatives === undefined || !STRUCTURE.some((keyword) => keyword in rest)) return current;
    const parts = Array.isArray(rest['allOf']) ? rest['allOf'] : [];
    return { ...rest, allOf: [...parts, { [name]: alternatives }] };
  }, schema);
}
