import {
  escapeInvisible,
  type JsonSchema,
  type Manifest,
  type SchemaObject,
} from '../../core/contract/index.js';
import type { JsonObject } from './describe-form.js';
import { shorten } from './shorten.js';

const SHARED = 'manifest:schemas/';
/** The maximum length of a schema, because a model reads a tool as a whole. Characters. */
const MAX_SCHEMA_LENGTH = 32_768;
const MAX_TEXT_LENGTH = 1000;
/** The maximum length of a shared schema, without references, that is written where it is used. */
const MAX_INLINED_LENGTH = 1000;
const BESIDE_INLINED: ReadonlySet<string> = new Set(['$ref', 'title', 'description']);
const MAX_DEPTH = 64;

/** The form of the value of each keyword that models read. */
type Form = 'schema' | 'list' | 'map' | 'text' | 'reference' | 'data';

const KEYWORDS: Readonly<Record<Form, readonly string[]>> = {
  schema: [
    ...['additionalProperties', 'contains', 'contentSchema', 'else', 'if', 'items', 'not'],
    ...['propertyNames', 'then', 'unevaluatedItems', 'unevaluatedProperties'],
  ],
  list: ['allOf', 'anyOf', 'oneOf', 'prefixItems'],
  map: ['$defs', 'definitions', 'dependentSchemas', 'patternProperties', 'properties'],
  text: ['title', 'description'],
  reference: ['$ref'],
  data: [
    ...['const', 'contentEncoding', 'contentMediaType', 'default', 'dependentRequired'],
    ...['deprecated', 'enum', 'examples', 'exclusiveMaximum', 'exclusiveMinimum', 'format'],
    ...['maxContains', 'maxItems', 'maxLength', 'maxProperties', 'maximum', 'minContains'],
    ...['minItems', 'minLength', 'minProperties', 'minimum', 'multipleOf', 'pattern'],
    ...['readOnly', 'required', 'type', 'uniqueItems', 'writeOnly'],
  ],
};

/** Others are left out: they have no meaning for arguments, but a model would read them. */
const FORMS: ReadonlyMap<string, Form> = new Map(
  Object.entries(KEYWORDS).flatMap(([form, keywords]) =>
    keywords.map((keyword) => [keyword, form as Form] as const),
  ),
);

export interface CompletedSchema {
  readonly schema: { readonly type: 'object'; readonly [member: string]: unknown };
  /** The length of its JSON. */
  readonly bytes: number;
}

interface WrittenSchema {
  readonly schema: unknown;
  /** At most the length of its JSON. */
  readonly length: number;
  /** The names of the shared schemas that it refers to. */
  readonly references: ReadonlySet<string>;
}

/** The shared schemas of a manifest as tools have them: each is written once, for all tools. */
export class SharedSchemas {
  readonly #declared: NonNullable<Manifest['schemas']>;
  readonly #written = new Map<string, WrittenSchema>();
  readonly #small = new Map<string, boolean>();

  constructor({ schemas = {} }: Pick<Manifest, 'schemas'>) {
    this.#declared = schemas;
  }

  read(name: string): WrittenSchema {
    const known = this.#written.get(name);
    if (known !== undefined) return known;
    const writer = new SchemaWriter(this);
    const schema = writer.write(this.#declared[name] ?? true, `#/$defs/${keyOf(name)}`);
    const written = { schema, length: writer.length, references: writer.references };
    this.#written.set(name, written);
    return written;
  }

  /** Reads a small schema without references; `null` for another one. */
  readSmall(name: string): WrittenSchema | null {
    const declared = this.#declared[name];
    const isSmall = this.#small.get(name) ?? isSmallSchema(declared);
    this.#small.set(name, isSmall);
    return isSmall ? this.read(name) : null;
  }
}

function isSmallSchema(declared: JsonSchema | undefined): boolean {
  if (typeof declared !== 'object') return false;
  const json = JSON.stringify(declared);
  return json.length <= MAX_INLINED_LENGTH && !json.includes('"$ref"');
}

/**
 * Copies schemas of a manifest into the schema of a tool. References remain references, to `$defs`
 * of the tool, so that recursive schemas do not grow.
 */
export class ToolSchema {
  readonly #shared: SharedSchemas;
  readonly #writer: SchemaWriter;
  readonly #defs = new Map<string, unknown>();

  constructor(shared: SharedSchemas) {
    this.#shared = shared;
    this.#writer = new SchemaWriter(shared);
  }

  /** @param path the path of the schema: `#/properties/body` */
  embed(schema: JsonSchema, path: string): unknown {
    return this.#writer.write(schema, path);
  }

  /** Embeds a part of a schema, whose references are relative to the whole. */
  embedPart(part: unknown, schema: SchemaObject): unknown {
    if (!JSON.stringify(part).includes('"#')) return this.#writer.write(part, '#');
    const path = '#/$defs/query';
    if (!this.#defs.has('query')) this.#defs.set('query', this.#writer.write(schema, path));
    return this.#writer.write(part, path);
  }

  /** Completes the schema with its shared schemas; the short one is used if it is too long. */
  complete(schema: JsonObject, short: JsonObject): CompletedSchema {
    const shared = this.#listShared();
    if (shared === null) return measure(short).completed;
    const defs = {
      ...(schema['$defs'] as object | undefined),
      ...Object.fromEntries([...this.#defs, ...shared]),
    };
    const isPlain = Object.keys(defs).length === 0;
    const { completed, length } = measure(isPlain ? schema : { ...schema, $defs: defs });
    return length <= MAX_SCHEMA_LENGTH ? completed : measure(short).completed;
  }

  /** Lists the shared schemas that it reaches; `null` as soon as they are too long. */
  #listShared(): Map<string, unknown> | null {
    const shared = new Map<string, unknown>();
    const names = new Set(this.#writer.references);
    let { length } = this.#writer;
    for (const name of names) {
      if (length > MAX_SCHEMA_LENGTH) return null;
      const written = this.#shared.read(name);
      // A schema of the route may have a definition of the same name.
      shared.set(keyOf(name), written.schema);
      length += written.length;
      // The loop also visits what is added here.
      for (const next of written.references) names.add(next);
    }
    return length > MAX_SCHEMA_LENGTH ? null : shared;
  }
}

/** Whether the place that a reference names is written. */
function isWritten(reference: string): boolean {
  if (!reference.startsWith('#/')) return true;
  const steps = reference.split('/').slice(1);
  for (let step = steps.shift(); step !== undefined; step = steps.shift()) {
    const form = FORMS.get(step);
    if (form === 'list' || form === 'map') steps.shift();
    else if (form !== 'schema') return false;
  }
  return true;
}

function isListWithoutItems(schema: object): boolean {
  const { type, items } = schema as JsonObject;
  return [type].flat().includes('array') && items === undefined;
}

/** Tools have schemas of objects only. */
function measure(schema: JsonObject) {
  const completed = { ...schema, type: 'object' } as const;
  const json = JSON.stringify(completed);
  return {
    completed: { schema: completed, bytes: Buffer.byteLength(json) },
    length: json.length,
  };
}

function keyOf(name: string): string {
  return `shared:${name}`;
}

/** Writes schemas until they are too long. */
class SchemaWriter {
  readonly references = new Set<string>();
  /** At most the length of the JSON that was written. */
  length = 0;
  readonly #shared: SharedSchemas;

  constructor(shared: SharedSchemas) {
    this.#shared = shared;
  }

  write(schema: unknown, path: string, depth = 0): unknown {
    // Some clients drop every tool if a property is `true` or `false` instead of an object.
    if (typeof schema !== 'object' || schema === null) return schema === false ? { not: {} } : {};
    this.length += '{}'.length;
    if (depth > MAX_DEPTH) return {};
    const inlined = this.#inline(schema);
    const entries: [string, unknown][] = [];
    for (const [keyword, value] of Object.entries(schema)) {
      const form = FORMS.get(keyword);
      const isKept = form !== 'reference' || (inlined === null && isWritten(String(value)));
      if (form === undefined || !isKept) continue;
      if (this.length > MAX_SCHEMA_LENGTH) break;
      this.length += keyword.length + '"":'.length;
      const written = keyword === 'items' && value === true ? {} : value;
      entries.push([keyword, this.#writeValue(form, written, path, depth + 1)]);
    }
    // APIs of models reject all tools of a request where one has a list without it.
    if (isListWithoutItems(schema)) {
      this.length += '"items":{}'.length;
      entries.push(['items', {}]);
    }
    return { ...inlined, ...Object.fromEntries(entries) };
  }

  /** A small shared schema in place of the reference to it; `null` for a reference that stays. */
  #inline(schema: object): object | null {
    const reference: unknown = Reflect.get(schema, '$ref');
    if (typeof reference !== 'string' || !reference.startsWith(SHARED)) return null;
    if (!Object.keys(schema).every((keyword) => BESIDE_INLINED.has(keyword))) return null;
    const small = this.#shared.readSmall(reference.slice(SHARED.length));
    this.length += small?.length ?? 0;
    return small === null ? null : Object(small.schema);
  }

  #writeValue(form: Form, value: unknown, path: string, depth: number): unknown {
    if (form === 'schema') {
      return typeof value === 'boolean' ? value : this.write(value, path, depth);
    }
    if (form === 'reference') return this.#writeReference(String(value), path);
    if (form === 'text') {
      return this.#measured(shorten(escapeInvisible(String(value)), MAX_TEXT_LENGTH));
    }
    if (form === 'list' && Array.isArray(value)) {
      return value.map((item) => this.write(item, path, depth));
    }
    if (form === 'map' && typeof value === 'object' && value !== null) {
      return this.#writeMembers(value, (item) => this.write(item, path, depth));
    }
    return this.#writeData(value, depth);
  }

  #writeData(value: unknown, depth: number): unknown {
    if (typeof value === 'string') return this.#measured(escapeInvisible(value));
    if (typeof value !== 'object' || value === null) return this.#measured(value);
    if (depth > MAX_DEPTH) return null;
    if (!Array.isArray(value)) {
      return this.#writeMembers(value, (item) => this.#writeData(item, depth + 1));
    }
    const items: unknown[] = [];
    for (const item of value) {
      if (this.length > MAX_SCHEMA_LENGTH) break;
      items.push(this.#writeData(item, depth + 1));
    }
    return items;
  }

  #writeMembers(value: object, write: (item: unknown) => unknown): object {
    const members: [string, unknown][] = [];
    for (const [name, item] of Object.entries(value)) {
      if (this.length > MAX_SCHEMA_LENGTH) break;
      this.length += name.length + '"":'.length;
      members.push([escapeInvisible(name), write(item)]);
    }
    return Object.fromEntries(members);
  }

  #writeReference(reference: string, path: string): string {
    if (reference.startsWith('#')) {
      return this.#measured(`${path}${escapeInvisible(reference.slice(1))}`);
    }
    const name = reference.slice(SHARED.length);
    this.references.add(name);
    return this.#measured(`#/$defs/${keyOf(name)}`);
  }

  #measured<T>(value: T): T {
    this.length += String(value).length;
    return value;
  }
}
