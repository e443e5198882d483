// Says by Ajv what a document allows, without code of the host.
import { Ajv2020 } from 'ajv/dist/2020.js';
import { follow } from './sample-values.mjs';

const DOCUMENT = 'modgate:document';

const OPTIONS = {
  strict: false,
  validateSchema: false,
  meta: false,
  logger: false,
  unicodeRegExp: false,
  inlineRefs: false,
  validateFormats: false,
};

/**
 * @param direction which of the members that are read-only or write-only may be absent
 * @returns a function that says whether a schema accepts a value; `null` where that is unknown
 */
export function createRules(root, direction) {
  const { $id: _id, id: _name, ...document } = prepare(root, root, direction);
  const ajv = new Ajv2020(OPTIONS).addSchema(document, DOCUMENT);
  const known = new Map();
  return (schema, value) => {
    if (schema === undefined) return true;
    try {
      if (!known.has(schema)) known.set(schema, ajv.compile(prepare(schema, root, direction)));
      return known.get(schema)(value);
    } catch {
      return null;
    }
  };
}

/** Rewrites the schemas of OpenAPI 3.0 to JSON Schema, and required members by the direction. */
function prepare(value, root, direction) {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((item) => prepare(item, root, direction));
  const result = {};
  for (const [name, member] of Object.entries(value)) {
    if (name === 'example' || name === 'examples' || name === 'x-examples') continue;
    result[name] = prepare(member, root, direction);
  }
  if (typeof value.$ref === 'string') result.$ref = DOCUMENT + value.$ref;
  if (Array.isArray(value.required)) {
    result.required = value.required.filter((name) => !isHidden(name, value, root, direction));
  }
  // The named alternative decides, which one schema cannot say.
  if (value.discriminator !== undefined && Array.isArray(result.oneOf)) {
    result.anyOf ??= result.oneOf;
    delete result.oneOf;
  }
  delete result.discriminator;
  if (typeof value.exclusiveMinimum === 'boolean') {
    result.exclusiveMinimum = value.exclusiveMinimum ? value.minimum : undefined;
  }
  if (typeof value.exclusiveMaximum === 'boolean') {
    result.exclusiveMaximum = value.exclusiveMaximum ? value.maximum : undefined;
  }
  for (const name of ['exclusiveMinimum', 'exclusiveMaximum']) {
    if (result[name] === undefined) delete result[name];
  }
  if (result.type === 'file') delete result.type;
  delete result.nullable;
  if (value.nullable !== true && value['x-nullable'] !== true) return result;
  return { anyOf: [result, { type: 'null' }] };
}

function isHidden(name, schema, root, direction) {
  const mark = direction === 'request' ? 'readOnly' : 'writeOnly';
  const owners = [schema, ...(schema.allOf ?? []).map((part) => follow(root, part))];
  return owners.some((owner) => {
    const property = owner?.properties?.[name];
    return property?.[mark] === true || follow(root, property)?.[mark] === true;
  });
}
