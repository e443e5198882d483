import { asList, asObject, asText, isObject, type JsonObject } from '../json-value.js';
import { formatComment } from './comment.js';
import { toKey } from './names.js';

export interface TypeNames {
  ofReference(reference: string): string;
  /** Returns `null` for a schema that is written inline. */
  ofRepeated(schema: JsonObject): string | null;
}

interface TypePlace {
  /** The indentation of the line in which the type starts. */
  readonly indent?: string;
  /** Whether this is the declaration of the name of the schema. */
  readonly isNamed?: boolean;
}

const INDENT = '  ';

/** Returns a TypeScript type, without the keywords that TypeScript cannot express. */
export function typeOfSchema(
  schema: unknown,
  names: TypeNames,
  { indent = '', isNamed = false }: TypePlace = {},
): string {
  const writer = new TypeWriter(names);
  return isNamed ? writer.writeHere(schema, indent) : writer.write(schema, indent);
}

/** The comment of a schema. */
export function describeSchema(schema: unknown): string[] {
  const { title, description, deprecated, format, default: value } = asObject(schema);
  const text = asText(description) ?? asText(title);
  return [
    ...(text === undefined ? [] : [text]),
    ...(asText(format) === undefined ? [] : [`Format: ${asText(format)}`]),
    ...(value === undefined ? [] : [`@default ${JSON.stringify(value)}`]),
    ...(deprecated === true ? ['@deprecated'] : []),
  ];
}

class TypeWriter {
  readonly #names: TypeNames;

  constructor(names: TypeNames) {
    this.#names = names;
  }

  write(schema: unknown, indent: string): string {
    const name = isObject(schema) ? this.#names.ofRepeated(schema) : null;
    return name ?? this.writeHere(schema, indent);
  }

  writeHere(schema: unknown, indent: string): string {
    if (isNever(schema)) return 'never';
    if (!isObject(schema)) return 'unknown';
    const { $ref: reference } = schema;
    const parts = [
      typeof reference === 'string' ? this.#names.ofReference(reference) : 'unknown',
      this.#writeValues(schema, indent),
      ...asList(schema['allOf']).map((part) => this.write(part, indent)),
      this.#writeAlternatives(schema['anyOf'], indent),
      this.#writeAlternatives(schema['oneOf'], indent),
    ];
    return intersect(parts);
  }

  #writeAlternatives(schemas: unknown, indent: string): string {
    if (!Array.isArray(schemas) || schemas.length === 0) return 'unknown';
    return unite(schemas.map((branch) => this.write(branch, indent)));
  }

  #writeValues(schema: JsonObject, indent: string): string {
    if ('const' in schema) return JSON.stringify(schema['const']);
    const { enum: values } = schema;
    if (Array.isArray(values)) return unite(values.map((value) => JSON.stringify(value)));
    const types = Array.isArray(schema['type'])
      ? schema['type']
      : [schema['type'] ?? guess(schema)];
    return unite(types.map((type) => this.#writeType(type, schema, indent)));
  }

  #writeType(type: unknown, schema: JsonObject, indent: string): string {
    switch (type) {
      case 'string':
      case 'boolean':
      case 'null':
        return type;
      case 'integer':
      case 'number':
        return 'number';
      case 'array':
        return this.#writeArray(schema, indent);
      case 'object':
        return this.#writeObject(schema, indent);
      default:
        return 'unknown';
    }
  }

  #writeArray(schema: JsonObject, indent: string): string {
    const { items, prefixItems, minItems } = schema;
    if (!Array.isArray(prefixItems)) return arrayOf(this.write(items ?? true, indent));
    const least = typeof minItems === 'number' ? minItems : 0;
    const first = prefixItems.map((item, index) => {
      return group(this.write(item, indent)) + (index < least ? '' : '?');
    });
    const rest = items === false ? [] : [`...${arrayOf(this.write(items ?? true, indent))}`];
    return `[${[...first, ...rest].join(', ')}]`;
  }

  #writeObject(schema: JsonObject, indent: string): string {
    const inner = indent + INDENT;
    const properties = asObject(schema['properties']);
    const required = new Set(asList(schema['required']).filter((name) => typeof name === 'string'));
    const undeclared = [...required].filter((name) => !Object.hasOwn(properties, name));
    const members = [
      ...Object.entries(properties).map(([name, property]) => {
        const mark = required.has(name) ? '' : '?';
        const comment = formatComment(describeSchema(property), inner);
        return `${comment}${inner}${toKey(name)}${mark}: ${this.write(property, inner)};\n`;
      }),
      ...undeclared.map((name) => `${inner}${toKey(name)}: unknown;\n`),
    ];
    const index = this.#writeIndex(schema, members.length > 0, inner);
    if (index !== null) members.push(`${inner}[name: string]: ${index};\n`);
    if (members.length === 0)
      return schema['additionalProperties'] === false
        ? 'Record<string, never>'
        : '{ [name: string]: unknown }';
    return `{\n${members.join('')}${indent}}`;
  }

  /** An index signature must include all members' types, so it is exact only without members. */
  #writeIndex(schema: JsonObject, hasMembers: boolean, indent: string): string | null {
    const { additionalProperties: others, patternProperties: patterns } = schema;
    const schemas = [...Object.values(asObject(patterns)), ...(isObject(others) ? [others] : [])];
    if (schemas.length === 0) return others === true ? 'unknown' : null;
    return hasMembers ? 'unknown' : unite(schemas.map((branch) => this.write(branch, indent)));
  }
}

/** Matches `false`, also as an object. */
function isNever(schema: unknown): boolean {
  if (!isObject(schema)) return schema === false;
  const { not } = schema;
  return not === true || (isObject(not) && Object.keys(not).length === 0);
}

/** Derives a missing type from keywords. */
function guess(schema: JsonObject): string | undefined {
  if (isObject(schema['properties']) || isObject(schema['additionalProperties'])) return 'object';
  if (isObject(schema['items']) || Array.isArray(schema['prefixItems'])) return 'array';
  return undefined;
}

function arrayOf(item: string): string {
  return /^[\w$."]+$/.test(item) ? `${item}[]` : `Array<${item}>`;
}

function unite(types: readonly string[]): string {
  const distinct = [...new Set(types)];
  if (distinct.includes('unknown')) return 'unknown';
  return distinct.length === 0 ? 'never' : distinct.join(' | ');
}

function intersect(types: readonly string[]): string {
  const distinct = [...new Set(types.filter((type) => type !== 'unknown'))];
  if (distinct.length <= 1) return distinct[0] ?? 'unknown';
  return distinct.map(group).join(' & ');
}

/** Adds parentheses to a union inside an intersection or a tuple. */
function group(type: string): string {
  return / [|&] /.test(type) ? `(${type})` : type;
}
