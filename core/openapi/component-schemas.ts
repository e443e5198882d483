import type { JsonSchema } from '../contract/index.js';
import { resolveReference } from '../schema/schema-graph.js';
import { isSchemaObject, SUBSCHEMA_KEYWORDS } from '../schema/subschema-keywords.js';

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

  add(name: string, schema: unknown): void {
    this.#added.push(`${JSON.stringify(name)}:${JSON.stringify(schema)}`);
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

/**
 * A schema as a part of the document. What its references lead to becomes a component of its own, since a
 * reference within the document starts at the document.
 * @param name starts the names of its components
 */
export function embedSchema(schema: JsonSchema, name: string, components: Components): unknown {
  return typeof schema === 'boolean'
    ? schema
    : new Embedding(schema, name, components).embed(schema);
}

/** A part of a schema, such as one of its properties. */
export function embedPart(
  part: unknown,
  schema: SchemaObject,
  name: string,
  components: Components,
): unknown {
  return new Embedding(schema, name, components).embed(part);
}

class Embedding {
  readonly #root: SchemaObject;
  readonly #name: string;
  readonly #components: Components;
  /** The names of the components by the object that is one. */
  readonly #known = new Map<unknown, string>();

  constructor(root: SchemaObject, name: string, components: Components) {
    this.#root = root;
    this.#name = name;
    this.#components = components;
  }

  embed(schema: unknown): unknown {
    if (!isSchemaObject(schema)) return schema;
    const copy: Record<string, unknown> = {};
    for (const [keyword, value] of Object.entries(schema)) {
      if (DOCUMENT_KEYWORDS.has(keyword)) continue;
      copy[keyword] = keyword === '$ref' ? this.#refer(value) : this.#embedKeyword(keyword, value);
    }
    return copy;
  }

  #embedKeyword(keyword: string, value: unknown): unknown {
    if (!Object.hasOwn(SUBSCHEMA_KEYWORDS, keyword)) return value;
    const holds = SUBSCHEMA_KEYWORDS[keyword]?.holds;
    if (holds === 'one') return this.embed(value);
    if (Array.isArray(value)) return value.map((one) => this.embed(one));
    const members = Object.entries(value as SchemaObject);
    return Object.fromEntries(members.map(([key, member]) => [key, this.embed(member)]));
  }

  #refer(reference: unknown): string {
    const target = resolveReference(this.#root, reference);
    const value = target?.value;
    const name = this.#known.get(value) ?? this.#nameComponent(target?.path ?? []);
    if (!this.#known.has(value)) {
      this.#known.set(value, name);
      this.#components.add(name, this.embed(value));
    }
    return `#/components/schemas/${name}`;
  }

  /** `shop.getItem.output`, or with what the reference ends in. */
  #nameComponent(path: readonly (string | number)[]): string {
    const end = String(path.at(-1) ?? '').replaceAll(/[^A-Za-z0-9._-]/g, '_');
    const wanted = end === '' ? this.#name : `${this.#name}.${end}`;
    return this.#components.claim(wanted);
  }
}
