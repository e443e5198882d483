import type { JsonSchema } from '../contract/index.js';
import {
  readSharedName,
  resolveReference,
  type SchemaScope,
  type SharedSchemas,
} from '../schema/shared-schemas.js';
import { isSchemaObject, SUBSCHEMA_KEYWORDS } from '../schema/subschema-keywords.js';
import { jsonText } from './json-text.js';

/** The schemas of a document by name. */
export class Components {
  readonly #taken = new Set<string>();
  #added: string[] = [];

  /** @returns a name that no other component has */
  claim(wanted: string): string {
    let name = wanted;
    for (let number = 2; this.#taken.has(name); number += 1) name = `${wanted}_${number}`;
    this.#taken.add(name);
    return name;
  }

  /** @param schema as JSON text */
  add(name: string, schema: string): void {
    this.#added.push(`${jsonText(name)}:${schema}`);
  }

  /** The members added since the last call, as JSON text. */
  takeTexts(): readonly string[] {
    const added = this.#added;
    this.#added = [];
    return added;
  }
}

type SchemaObject = Readonly<Record<string, unknown>>;

/** They belong to a schema that is a document of its own; here they would change what references mean. */
const DOCUMENT_KEYWORDS: ReadonlySet<string> = new Set(['$schema', '$id', '$defs']);

/** The schemas of one module in a document: each shared one becomes one component, once it is referred to. */
export class ModuleSchemas {
  readonly components: Components;
  readonly shared: SharedSchemas;
  /** Starts the names of shared schemas. */
  readonly #prefix: string;
  readonly #names = new Map<string, string>();
  readonly #pending: string[] = [];

  constructor(module: string, shared: SharedSchemas, components: Components) {
    this.#prefix = module.replaceAll('/', '.');
    this.shared = shared;
    this.components = components;
  }

  /** The component of a shared schema. */
  refer(name: string): string {
    const known = this.#names.get(name);
    if (known !== undefined) return known;
    const component = this.components.claim(`${this.#prefix}.${name}`);
    this.#names.set(name, component);
    this.#pending.push(name);
    return component;
  }

  /** Adds the components that were referred to. They refer to further ones, in a chain of any length. */
  addReferred(): void {
    for (let name = this.#pending.pop(); name !== undefined; name = this.#pending.pop()) {
      const schema = this.shared[name] ?? true;
      const component = this.refer(name);
      this.components.add(component, embedSchema(schema, component, this));
    }
  }
}

/**
 * A schema as a part of the document, as JSON text. What its references lead to becomes a component of its own,
 * since a reference within the document starts at the document.
 * @param name starts the names of its components
 */
export function embedSchema(schema: JsonSchema, name: string, module: ModuleSchemas): string {
  return typeof schema === 'boolean'
    ? writeBoolean(schema)
    : embedPart(schema, schema, name, module);
}

/** A part of a schema, such as one of its properties. */
export function embedPart(
  part: unknown,
  schema: SchemaObject,
  name: string,
  module: ModuleSchemas,
): string {
  if (typeof part === 'boolean') return writeBoolean(part);
  const text = jsonText(part);
  // All keywords that would have to change start so.
  if (!text.includes('"$')) return text;
  return new Embedding(schema, name, module).write(part);
}

/** `true` and `false` as objects: many tools expect one where OpenAPI has a schema, though it allows both. */
function writeBoolean(schema: boolean): string {
  return schema ? '{}' : '{"not":{}}';
}

class Embedding {
  readonly #scope: SchemaScope;
  readonly #name: string;
  readonly #module: ModuleSchemas;
  /** The names of the components by the object that is one. */
  readonly #known = new Map<unknown, string>();

  constructor(root: SchemaObject, name: string, module: ModuleSchemas) {
    this.#scope = { root, shared: module.shared };
    this.#name = name;
    this.#module = module;
  }

  write(schema: unknown): string {
    if (!isSchemaObject(schema)) return jsonText(schema);
    let members = '';
    for (const keyword of Object.keys(schema)) {
      if (DOCUMENT_KEYWORDS.has(keyword)) continue;
      const text = this.#writeKeyword(keyword, schema[keyword]);
      members += `${members === '' ? '' : ','}${jsonText(keyword)}:${text}`;
    }
    return `{${members}}`;
  }

  #writeKeyword(keyword: string, value: unknown): string {
    if (keyword === '$ref') return jsonText(this.#refer(value));
    const holds = Object.hasOwn(SUBSCHEMA_KEYWORDS, keyword)
      ? SUBSCHEMA_KEYWORDS[keyword]?.holds
      : undefined;
    if (holds === undefined) return jsonText(value);
    if (holds === 'one') return this.write(value);
    if (Array.isArray(value)) return `[${value.map((item) => this.write(item)).join(',')}]`;
    const members = Object.entries(value as SchemaObject);
    return `{${members.map(([key, member]) => `${jsonText(key)}:${this.write(member)}`).join(',')}}`;
  }

  #refer(reference: unknown): string {
    const sharedName = readSharedName(reference);
    if (sharedName !== null) return `#/components/schemas/${this.#module.refer(sharedName)}`;
    const target = resolveReference(this.#scope, reference);
    const value = target?.value;
    const name = this.#known.get(value) ?? this.#nameComponent(target?.path ?? []);
    if (!this.#known.has(value)) {
      this.#known.set(value, name);
      this.#module.components.add(
        name,
        typeof value === 'boolean' ? writeBoolean(value) : this.write(value),
      );
    }
    return `#/components/schemas/${name}`;
  }

  /** `shop.getItem.output`, or with what the reference ends in. */
  #nameComponent(path: readonly (string | number)[]): string {
    const end = String(path.at(-1) ?? '').replaceAll(/[^A-Za-z0-9._-]/g, '_');
    const wanted = end === '' ? this.#name : `${this.#name}.${end}`;
    return this.#module.components.claim(wanted);
  }
}
