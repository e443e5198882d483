import { asList, isObject, type JsonObject } from '../json-value.js';
import { convertSchema } from './convert-schema.js';
import { followReference, type OpenApiDocument } from './openapi-document.js';
import type { OperationContext } from './operation-context.js';
import { followSchema } from './schema-keywords.js';

const WITHOUT_RULES = new Set([
  ...['default', 'deprecated', 'description', 'example', 'examples', 'nullable', 'title'],
]);

/** Types that the host parses; other values are texts. */
export const READ_TYPES: ReadonlySet<unknown> = new Set(['integer', 'number', 'boolean', 'string']);

export function hasRules(schema: JsonObject): boolean {
  return Object.keys(schema).some(
    (keyword) => !WITHOUT_RULES.has(keyword) && !keyword.startsWith('x-'),
  );
}

/** Returns `null` for a parameter that a query schema cannot express. */
export function convertQueryParameter(
  name: string,
  parameter: JsonObject,
  context: OperationContext,
): JsonObject | null {
  const { document, report } = context;
  if (isObject(parameter['content'])) {
    report(`content of the query parameter ${name}`, 'the host checks only that it is text');
    return { type: 'string' };
  }
  // References are followed here, because the host parses the property by its own type.
  const schema = simplify(document, parameter['schema']);
  const { type } = schema;
  const { style = 'form', explode = style === 'form' } = parameter;
  if (type === 'object' || style === 'deepObject') {
    report(
      `object in the query parameter ${name}`,
      'it is sent under other names, which the host forwards unchecked',
    );
    return null;
  }
  const acceptsList = canBeList(document, schema);
  if (acceptsList && explode !== true) {
    report(
      `list in one value of the query parameter ${name}`,
      'the host checks only that it is text',
    );
    return { type: 'string' };
  }
  const part = `schema of the query parameter ${name}`;
  if (acceptsList && type !== 'array') {
    report(part, 'the host accepts any list of values');
    return { type: 'array', items: {} };
  }
  if (type !== 'array' && !READ_TYPES.has(type)) {
    if (Object.keys(schema).length > 0 && type !== undefined) {
      report(part, 'a value of a query has one type');
    } else if (
      ['allOf', 'anyOf', 'oneOf', 'not', 'enum', 'const'].some((keyword) => keyword in schema)
    ) {
      report(part, 'the host checks only that it is there');
    }
    return {};
  }
  if (parameter['allowEmptyValue'] === true && rejectsEmptyText(schema)) {
    report(part, 'the host accepts any value, since it may be empty');
    return {};
  }
  const { nullable: _nullable, ...rules } = schema;
  const checked = type === 'array' ? withReadableItems(name, rules, context) : rules;
  return convertSchema(checked, { ...context, direction: 'input' }) ?? {};
}

/** Whether an empty value may violate the schema. In a list it is an item, and checked as such. */
function rejectsEmptyText({ type, ...rules }: JsonObject): boolean {
  return type !== 'array' && (type !== 'string' || hasRules(rules));
}

/**
 * Removes references, combinations of one schema, and null, because a query cannot contain null.
 * Adds the type of listed values, by which the host reads a value.
 */
export function simplify(document: OpenApiDocument, written: unknown): JsonObject {
  const joined = joinOneBranch(document, followSchema(document, written));
  return withTypeOfValues(withoutNull(joined));
}

function withTypeOfValues(schema: JsonObject): JsonObject {
  const { type, enum: listed, const: only } = schema;
  const values = only === undefined ? asList(listed) : [only];
  const [first, ...others] = new Set(
    values.flatMap((value) => (value === null ? [] : typeof value)),
  );
  const isOne = first !== undefined && others.length === 0 && READ_TYPES.has(first);
  return type === undefined && isOne ? { type: first, ...schema } : schema;
}

function withoutNull(schema: JsonObject): JsonObject {
  const { type } = schema;
  if (!Array.isArray(type)) return schema;
  const types = type.filter((typeName) => typeName !== 'null');
  return types.length === 1 ? { ...schema, type: types[0] } : schema;
}

function joinOneBranch(document: OpenApiDocument, schema: JsonObject): JsonObject {
  for (const keyword of ['allOf', 'anyOf', 'oneOf']) {
    const { [keyword]: branches, ...others } = schema;
    const values = asList(branches).filter(
      (branch) => followReference(document, branch)['type'] !== 'null',
    );
    if (values.length === 1 && !hasRules(others))
      return { ...followSchema(document, values[0]), ...others };
  }
  return schema;
}

/** Whether the schema, or a branch of it, is that of a list. */
function canBeList(document: OpenApiDocument, schema: JsonObject): boolean {
  const branches = new Set([schema]);
  // The set grows during the loop. Circles end, because a set contains each branch once.
  for (const { type, ...branch } of branches) {
    if (type === 'array' || asList(type).includes('array')) return true;
    for (const keyword of ['allOf', 'anyOf', 'oneOf']) {
      for (const alternative of asList(branch[keyword]))
        branches.add(followReference(document, alternative));
    }
  }
  return false;
}

/** Adds a type to items: without one the host would parse them as text, against other rules. */
function withReadableItems(
  name: string,
  { items: written, ...rules }: JsonObject,
  { document, report }: OperationContext,
): JsonObject {
  if (!isObject(written)) return { ...rules, items: written ?? {} };
  const items = simplify(document, written);
  if (READ_TYPES.has(items['type'])) return { ...rules, items };
  if (hasRules(items)) {
    report(`items of the query parameter ${name}`, 'the host does not check them');
  }
  return { ...rules, items: {} };
}
