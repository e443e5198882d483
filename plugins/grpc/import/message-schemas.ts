import { createHash } from 'node:crypto';
import { type DescEnum, type DescField, type DescMessage, ScalarType } from '@bufbuild/protobuf';
import { isWrapperDesc } from '@bufbuild/protobuf/wkt';
import type { JsonSchema } from '../../../core/contract/index.js';
import { HTTP_BODY } from '../bound-route.js';

type Schema = Readonly<Record<string, unknown>>;

/** Messages with JSON of their own. */
const OWN: Readonly<Record<string, Schema>> = {
  'google.protobuf.Timestamp': { type: 'string', format: 'date-time' },
  'google.protobuf.Duration': { type: 'string', examples: ['1.5s'] },
  'google.protobuf.FieldMask': { type: 'string', examples: ['title,author.name'] },
  'google.protobuf.Struct': { type: 'object' },
  'google.protobuf.Value': {},
  'google.protobuf.ListValue': { type: 'array' },
  'google.protobuf.Any': { type: 'object', properties: { '@type': { type: 'string' } } },
  [HTTP_BODY]: { type: 'object' },
};

const LONGS: ReadonlySet<ScalarType> = new Set([
  ScalarType.INT64,
  ScalarType.UINT64,
  ScalarType.SINT64,
  ScalarType.FIXED64,
  ScalarType.SFIXED64,
]);
const INPUT_SUFFIX = '.input';
/** The longest name of a shared schema. */
const MAX_NAME_LENGTH = 128;
/** Digits of the digest in a shortened name. */
const DIGEST_LENGTH = 12;
/** Messages of queries are followed this far. */
const QUERY_DEPTH = 3;
const MAX_QUERY_NAMES = 200;

/**
 * The schemas of messages, shared by name. A response has one form of each value. A request may have each that the
 * mapping accepts, so the schema of a request is weaker; the codec checks the rest.
 */
export class MessageSchemas {
  readonly #all: Record<string, JsonSchema> = {};

  get all(): Readonly<Record<string, JsonSchema>> {
    return this.#all;
  }

  describe(message: DescMessage): Schema {
    return this.#describe(message, false);
  }

  describeInput(message: DescMessage): Schema {
    return this.#describe(message, true);
  }

  describeField(field: DescField): Schema {
    return this.#describeField(field, false);
  }

  describeInputField(field: DescField): Schema {
    return this.#describeField(field, true);
  }

  /** The parameters of a query: single values and lists, by the path of their field; `null` without any. */
  describeQuery(message: DescMessage, bound: readonly string[]): Schema | null {
    if (bound.includes('*')) return null;
    const properties: Record<string, Schema> = {};
    this.#addQuery(message, '', bound, properties, QUERY_DEPTH);
    return Object.keys(properties).length === 0 ? null : { type: 'object', properties };
  }

  #addQuery(
    message: DescMessage,
    prefix: string,
    bound: readonly string[],
    properties: Record<string, Schema>,
    depth: number,
  ): void {
    for (const field of message.fields) {
      const path = prefix + field.name;
      const name = prefix + field.jsonName;
      if (bound.includes(path) || Object.keys(properties).length >= MAX_QUERY_NAMES) continue;
      const single = describeQueryValue(field);
      if (field.fieldKind === 'list') {
        if (single !== null) properties[name] = { type: 'array', items: single };
      } else if (field.fieldKind === 'message' && single === null) {
        if (depth > 0) this.#addQuery(field.message, `${path}.`, bound, properties, depth - 1);
      } else if (field.fieldKind !== 'map' && single !== null) properties[name] = single;
    }
  }

  #describe(message: DescMessage, isInput: boolean): Schema {
    const own = OWN[message.typeName];
    const [value] = message.fields;
    if (own !== undefined) return isInput ? withNull(own) : own;
    if (isWrapperDesc(message) && value !== undefined) return this.#describeItem(value, isInput);
    const name = nameSchema(message.typeName, isInput ? INPUT_SUFFIX : '');
    if (!Object.hasOwn(this.#all, name)) {
      // Set first, because messages may contain themselves.
      this.#all[name] = true;
      const fields = message.fields.map((field): [string, Schema] => [
        field.jsonName,
        this.#describeField(field, isInput),
      ]);
      this.#all[name] = { type: 'object', properties: Object.fromEntries(fields) } as JsonSchema;
    }
    return { $ref: `manifest:schemas/${name}` };
  }

  #describeField(field: DescField, isInput: boolean): Schema {
    const item = this.#describeItem(field, isInput);
    if (field.fieldKind === 'list') return nullable({ type: 'array', items: item }, isInput);
    if (field.fieldKind === 'map') {
      return nullable({ type: 'object', additionalProperties: item }, isInput);
    }
    return nullable(item, isInput);
  }

  #describeItem(field: DescField, isInput: boolean): Schema {
    if (field.message !== undefined) return this.#describe(field.message, isInput);
    if (field.enum !== undefined) return describeEnum(field.enum, isInput);
    return describeScalar(field.scalar ?? ScalarType.STRING, isInput);
  }
}

/** The name of the message; a long one keeps its end, with a digest of the whole. */
function nameSchema(typeName: string, suffix: string): string {
  const name = typeName + suffix;
  if (name.length <= MAX_NAME_LENGTH) return name;
  const digest = createHash('sha256').update(typeName).digest('hex').slice(0, DIGEST_LENGTH);
  const end = typeName.slice(DIGEST_LENGTH + 1 + suffix.length - MAX_NAME_LENGTH);
  return `${digest}.${end}${suffix}`;
}

/** A member of a request may be null, which is the same as absent. */
function nullable(schema: Schema, isInput: boolean): Schema {
  return isInput ? withNull(schema) : schema;
}

function withNull(schema: Schema): Schema {
  const { type, anyOf } = schema;
  if (Array.isArray(anyOf)) return { ...schema, anyOf: [...anyOf, { type: 'null' }] };
  if (type === undefined) return '$ref' in schema ? { anyOf: [schema, { type: 'null' }] } : schema;
  return { ...schema, type: [...new Set([type, 'null'].flat())] };
}

function describeEnum({ values, typeName }: DescEnum, isInput: boolean): Schema {
  if (typeName === 'google.protobuf.NullValue') return {};
  const names = { enum: values.map(({ name }) => name) };
  // A server may know more values than its description: their numbers are sent.
  return {
    anyOf: [
      { type: 'string', ...(isInput ? { examples: names.enum } : names) },
      { type: 'integer' },
    ],
  };
}

function describeScalar(scalar: ScalarType, isInput: boolean): Schema {
  if (scalar === ScalarType.STRING) return { type: 'string' };
  if (scalar === ScalarType.BYTES) return { type: 'string', contentEncoding: 'base64' };
  if (scalar === ScalarType.BOOL) return { type: 'boolean' };
  if (scalar === ScalarType.DOUBLE || scalar === ScalarType.FLOAT)
    return { type: ['number', 'string'] };
  if (LONGS.has(scalar)) return { type: isInput ? ['string', 'number'] : 'string' };
  return { type: isInput ? ['number', 'string'] : 'integer' };
}

/** A value of a query; `null` for a message that is no single value. */
function describeQueryValue({ message, enum: values, scalar }: DescField): Schema | null {
  if (message !== undefined) {
    const own = OWN[message.typeName];
    const [value] = message.fields;
    if (isWrapperDesc(message) && value !== undefined) return describeQueryValue(value);
    return own?.['type'] === 'string' ? own : null;
  }
  if (values !== undefined)
    return { type: 'string', examples: values.values.map(({ name }) => name) };
  return scalar === ScalarType.BOOL ? { type: 'boolean' } : { type: 'string' };
}
