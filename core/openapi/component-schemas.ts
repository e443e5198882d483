import type { JsonSchema } from '../contract/index.js';
import {
  readSharedName,
  resolveReference,
  type SchemaScope,
  type SharedSchemas,
} from '../schema/shared-schemas.js';
import { formOfHeld, isSchemaObject } from '../schema/subschema-keywords.js';
import { jsonText } from './json-text.js';
import { UniqueNames } from './operation-names.js';

export class Components {
  readonly names = new UniqueNames();
  #added: string[] = [];

  /** @param schema as JSON text */
  add(name: string, schema: string): void {
    this.#added.push(`${jsonText(name)}:${schema}`);
  }

  /** Returns the members added since the last call, as JSON text. */
  takeTexts(): readonly string[] {
    const added = this.#added;
    this.#added = [];
    return added;
  }
}

type SchemaObject = Readonly<Record<string, unknown>>;

/** Keywords of a separate document; here they would change the meaning of references. */
const DOCUMENT_KEYWORDS: ReadonlySet<string> = new Set(['$schema', '$id', '$defs']);

/** The schemas of one module. A shared schema becomes a component at its first reference. */
export class ModuleSchemas {
  readonly components: Components;
  readonly shared: SharedSchemas;
  /** The prefix of the names of shared schemas. */
  readonly #prefix: string;
  readonly #names = new Map<string, string>();
  readonly #pending: string[] = [];

  constructor(module: string, shared: SharedSchemas, components: Components) {
    this.#prefix = module.replaceAll('/', '.');
    this.shared = shared;
    this.components = components;
  }

  /** Returns the component of a shared schema. */
  refer(name: string): string {
    const cached = this.#names.get(name);
    if (cached !== undefined) return cached;
    const component = this.components.names.reserve(`${this.#prefix}.${name}`);
    this.#names.set(name, component);
    this.#pending.push(name);
    return component;
  }

  /** Adds the referenced components, which refer to further ones in a chain of any length. */
  addReferred(): void {
    for (let name = this.#pending.pop(); name !== undefined; name = this.#pending.pop()) {
      const schema = this.shared[name] ?? true;
      const component = this.refer(name);
      this.components.add(component, embedSchema(schema, component, this));
    }
  }
}

/**
 * Returns a schema as a part of the document, as JSON text. Targets of its references become
 * components, since a reference within the document starts at the document.
 * @param name the prefix of the names of its components
 */
export function embedSchema(schema: JsonSchema, name: string, module: ModuleSchemas): string {
  return typeof schema === 'boolean'
    ? writeBoolean(schema)
    : embedPart(schema, schema, name, module);
}

/** Returns a part of a schema, such as one of its properties. */
export function embedPart(
  part: unknown,
  schema: SchemaObject,
  name: string,
  module: ModuleSchemas,
): string {
  if (typeof part === 'boolean') return writeBoolean(part);
  const text = jsonText(part);
  // All affected keywords start like this.
  if (!text.includes('"$')) return text;
  return new Embedding(schema, name, module).write(part);
}

/** Many tools expect an object as a schema, though OpenAPI allows booleans. */
function writeBoolean(schema: boolean): string {
  return schema ? '{}' : '{"not":{}}';
}

class Embedding {
  readonly #scope: SchemaScope;
  readonly #name: string;
  readonly #module: ModuleSchemas;
  /** The name of the component of each object. */
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
    const holds = formOfHeld(keyword);
    if (holds === null) return jsonText(value);
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

  /** Returns `shop.getItem.output`, with the end of the reference if it has one. */
  #nameComponent(path: readonly (string | number)[]): string {
    const end = String(path.at(-1) ?? '').replaceAll(/[^A-Za-z0-9._-]/g, '_');
    const preferred = end === '' ? this.#name : `${this.#name}.${end}`;
    return this.#module.components.names.reserve(preferred);
  }
}
