import { asList, asObject, isObject, type JsonObject } from '../json-value.js';
import { findByPointer, type OpenApiDocument } from './openapi-document.js';

/** Whether the schema is that of a request or of a response: read-only members are not sent. */
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

  /** The names of those that the schema, what it refers to, or a part of its `allOf` has. */
  of(schema: JsonObject): ReadonlySet<string> {
    const known = this.#names.get(schema);
    if (known !== undefined) return known;
    const names = new Set<string>();
    const parts = new Set([schema]);
    // Grows while it is read; circles end, since a set has each part once.
    for (const part of parts) {
      for (const [name, property] of Object.entries(asObject(part['properties']))) {
        if (this.#isMarked(property)) names.add(name);
      }
      for (const one of [this.#followOne(part), ...asList(part['allOf'])]) {
        if (isObject(one)) parts.add(one);
      }
    }
    this.#names.set(schema, names);
    return names;
  }

  #isMarked(property: unknown): boolean {
    const own = asObject(property);
    return own[this.#mark] === true || asObject(this.#followOne(own))[this.#mark] === true;
  }

  #followOne({ $ref: reference }: JsonObject): unknown {
    if (typeof reference !== 'string') return undefined;
    return findByPointer(this.#document, reference);
  }
}
