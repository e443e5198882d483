import type { JsonSchema, Manifest, SchemaObject } from '../../core/contract/index.js';
import { toVisible } from './visible-text.js';

const SHARED = 'manifest:schemas/';
/** The maximum length of a schema, because a model reads a tool as a whole. Characters. */
const MAX_SCHEMA_LENGTH = 32_768;
const MAX_TEXT_LENGTH = 1000;
const MAX_DEPTH = 64;

/** Keywords with a schema, a list or a map of schemas; all other values are data. */
const SCHEMAS = new Set([
  ...['additionalProperties', 'contains', 'contentSchema', 'else', 'if', 'items', 'not'],
  ...['propertyNames', 'then', 'unevaluatedItems', 'unevaluatedProperties'],
]);
const LISTS = new Set(['allOf', 'anyOf', 'oneOf', 'prefixItems']);
const MAPS = new Set([
  '$defs',
  'definitions',
  'dependentSchemas',
  'patternProperties',
  'properties',
]);
const TEXTS = new Set(['title', 'description', '$comment']);

/**
 * Copies schemas of a manifest into the schema of a tool. References remain references, to `$defs`
 * of the tool, so that recursive schemas do not grow.
 */
export class ToolSchema {
  readonly #shared: NonNullable<Manifest['schemas']>;
  readonly #defs = new Map<string, unknown>();

  constructor({ schemas = {} }: Pick<Manifest, 'schemas'>) {
    this.#shared = schemas;
  }

  /** @param path the path of the schema: `#/properties/body` */
  embed(schema: JsonSchema, path: string): unknown {
    return this.#write(schema, path, 0);
  }

  /** Embeds a part of a schema, whose references are relative to the whole. */
  embedPart(part: unknown, schema: SchemaObject, name: string): unknown {
    if (JSON.stringify(part).includes('"#')) {
      const key = `query:${name}`;
      this.#defs.set(key, null);
      this.#defs.set(key, this.#write(schema, `#/$defs/${key}`, 0));
      return this.#write(part as JsonSchema, `#/$defs/${key}`, 0);
    }
    return this.#write(part as JsonSchema, '#', 0);
  }

  /** Completes the schema with its shared schemas; the short one is used if it is too long. */
  complete(schema: { readonly [name: string]: unknown }, short: object): Record<string, unknown> {
    const defs = { ...(schema['$defs'] as object | undefined), ...Object.fromEntries(this.#defs) };
    const completed = this.#defs.size === 0 ? schema : { ...schema, $defs: defs };
    return JSON.stringify(completed).length <= MAX_SCHEMA_LENGTH ? { ...completed } : { ...short };
  }

  #write(schema: unknown, path: string, depth: number): unknown {
    if (typeof schema !== 'object' || schema === null || depth > MAX_DEPTH) {
      return typeof schema === 'boolean' ? schema : {};
    }
    const entries = Object.entries(schema).map(([keyword, value]) => [
      keyword,
      this.#writeKeyword(keyword, value, path, depth + 1),
    ]);
    return Object.fromEntries(entries);
  }

  #writeKeyword(keyword: string, value: unknown, path: string, depth: number): unknown {
    if (keyword === '$ref' && typeof value === 'string') return this.#writeReference(value, path);
    if (TEXTS.has(keyword)) return toVisible(String(value), MAX_TEXT_LENGTH);
    if (SCHEMAS.has(keyword)) return this.#write(value, path, depth);
    if (LISTS.has(keyword) && Array.isArray(value)) {
      return value.map((item) => this.#write(item, path, depth));
    }
    if (MAPS.has(keyword) && typeof value === 'object' && value !== null) {
      const entries = Object.entries(value);
      return Object.fromEntries(
        entries.map(([name, item]) => [name, this.#write(item, path, depth)]),
      );
    }
    return value;
  }

  #writeReference(reference: string, path: string): string {
    if (reference.startsWith('#')) return `${path}${reference.slice(1)}`;
    const name = reference.slice(SHARED.length);
    // A schema of the route may have a definition of the same name.
    const key = `shared:${name}`;
    const target = `#/$defs/${key}`;
    if (!this.#defs.has(key)) {
      // Added before its parts, which may refer to it.
      this.#defs.set(key, true);
      this.#defs.set(key, this.#write(this.#shared[name] ?? true, target, 0));
    }
    return target;
  }
}
