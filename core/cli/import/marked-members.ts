import { asList, asObject, isObject, type JsonObject } from '../json-value.js';
import { findByPointer, followReference, type OpenApiDocument } from './openapi-document.js';

/** Whether the schema is that of a request or of a response: requests omit read-only members. */
export type Direction = 'input' | 'output';

/** Members with a mark, such as `readOnly`, of the objects that a schema describes. */
export class MarkedMembers {
  readonly #document: OpenApiDocument;
  readonly #mark: 'readOnly' | 'writeOnly';
  readonly #names = new Map<JsonObject, ReadonlySet<string>>();

  constructor(document: OpenApiDocument, mark: 'readOnly' | 'writeOnly') {
    this.#document = document;
    this.#mark = mark;
  }

  /** The names of marked members in the schema, its references, or parts of its `allOf`. */
  of(schema: JsonObject): ReadonlySet<string> {
    const cached = this.#names.get(schema);
    if (cached !== undefined) return cached;
    const names = new Set<string>();
    const parts = new Set([schema]);
    // The set grows during the loop. Circles end, because a set contains each part once.
    for (const part of parts) {
      for (const [name, property] of Object.entries(
        followReference(this.#document, part['properties']),
      )) {
        if (this.#isMarked(property)) names.add(name);
      }
      for (const nested of [this.#followOne(part), ...asList(part['allOf'])]) {
        if (isObject(nested)) parts.add(nested);
      }
    }
    this.#names.set(schema, names);
    return names;
  }

  #isMarked(property: unknown): boolean {
    const propertySchema = asObject(property);
    return (
      propertySchema[this.#mark] === true ||
      asObject(this.#followOne(propertySchema))[this.#mark] === true
    );
  }

  #followOne({ $ref: reference }: JsonObject): unknown {
    if (typeof reference !== 'string') return undefined;
    return findByPointer(this.#document, reference);
  }
}
