import { UniqueNames } from '../../openapi/operation-names.js';
import { formatSharedReference, readSharedName } from '../../schema/shared-schemas.js';
import { isObject, type JsonObject } from '../json-value.js';
import { type Direction, MarkedMembers } from './marked-members.js';
import {
  explainBroken,
  findByPointer,
  type OpenApiDocument,
  parsePointer,
} from './openapi-document.js';
import { nameOfTarget } from './referred-documents.js';

/** Converts a definition; returns `null` if any value is valid. */
type ConvertDefinition = (
  schema: unknown,
  direction: Direction,
  place: string,
) => JsonObject | null;

interface Definition {
  readonly reference: string;
  readonly direction: Direction;
  readonly name: string;
}

/** Reserves space for a number. */
const MAX_NAME_LENGTH = 110;

/**
 * Shared schemas of the manifest for referenced schemas of a document. Requests and responses have
 * separate ones if they differ: requests do not require read-only members.
 */
export class SharedDefinitions {
  readonly #document: OpenApiDocument;
  readonly #definitions = new Map<string, Definition>();
  readonly #baseNames = new Map<string, string>();
  readonly #names = new UniqueNames();
  readonly #marked: Readonly<Record<Direction, MarkedMembers>>;

  constructor(document: OpenApiDocument) {
    this.#document = document;
    this.#marked = {
      input: new MarkedMembers(document, 'readOnly'),
      output: new MarkedMembers(document, 'writeOnly'),
    };
  }

  /** The members that are not required in a direction. */
  notRequired(direction: Direction): MarkedMembers {
    return this.#marked[direction];
  }

  /** Returns the schema that refers to a definition, or a text with the reason why none does. */
  refer(reference: string, direction: Direction): JsonObject | string {
    const key = `${direction} ${reference}`;
    const cached = this.#definitions.get(key);
    if (cached !== undefined) return { $ref: formatSharedReference(cached.name) };
    const target = findByPointer(this.#document, reference);
    if (!isObject(target) && typeof target !== 'boolean') {
      return explainBroken(this.#document, reference);
    }
    const base = this.#baseNames.get(reference) ?? this.#names.reserve(toName(reference));
    this.#baseNames.set(reference, base);
    const name = direction === 'output' ? base : this.#names.reserve(`${base}.input`);
    this.#definitions.set(key, { reference, direction, name });
    return { $ref: formatSharedReference(name) };
  }

  /**
   * Returns the shared schemas of a manifest, and gives the references of its routes their final
   * names. Call it once, after all routes are converted.
   */
  complete(
    routes: readonly unknown[],
    convert: ConvertDefinition,
  ): Record<string, JsonObject | boolean> {
    const converted = new Map<string, JsonObject | boolean>();
    // Definitions add further ones to the map during the loop.
    for (const { reference, direction, name } of this.#definitions.values()) {
      const schema = findByPointer(this.#document, reference);
      const place = `the schema ${this.#baseNames.get(reference)}`;
      converted.set(name, convert(schema, direction, place) ?? true);
    }
    const renamed = this.#findRenamed(converted);
    renameReferences(routes, renamed);
    for (const [name, schema] of converted) {
      renameReferences(schema, renamed);
      const final = renamed.get(name);
      if (final === undefined) continue;
      converted.delete(name);
      if (!converted.has(final)) converted.set(final, schema);
    }
    return Object.fromEntries(converted);
  }

  /** The input schemas that get the name of the definition, because no other schema differs. */
  #findRenamed(converted: ReadonlyMap<string, JsonObject | boolean>): Map<string, string> {
    const renamed = new Map<string, string>();
    for (const { reference, direction, name } of this.#definitions.values()) {
      const base = this.#baseNames.get(reference);
      if (direction === 'input' && base !== undefined) renamed.set(name, base);
    }
    const texts = new Map([...converted].map(([name, schema]) => [name, JSON.stringify(schema)]));
    const rename = (text: string) =>
      text.replaceAll(/"manifest:schemas\/([^"]+)"/g, (reference, name) => {
        const final = renamed.get(name);
        return final === undefined ? reference : JSON.stringify(formatSharedReference(final));
      });
    for (let hasChanged = true; hasChanged; ) {
      hasChanged = false;
      for (const [name, base] of renamed) {
        const output = texts.get(base);
        if (output === undefined || rename(texts.get(name) ?? '') === rename(output)) continue;
        renamed.delete(name);
        hasChanged = true;
      }
    }
    return renamed;
  }
}

/** Changes references to shared schemas in place. */
function renameReferences(value: unknown, renamed: ReadonlyMap<string, string>): void {
  if (typeof value !== 'object' || value === null) return;
  for (const [key, member] of Object.entries(value)) {
    const name = key === '$ref' ? readSharedName(member) : null;
    const final = name === null ? undefined : renamed.get(name);
    if (final === undefined) renameReferences(member, renamed);
    else (value as Record<string, unknown>)[key] = formatSharedReference(final);
  }
}

function toName(reference: string): string {
  const name = nameOfTarget(parsePointer(reference) ?? [])
    .replaceAll(/[^A-Za-z0-9_.-]/g, '_')
    .slice(0, MAX_NAME_LENGTH);
  return name === '' || name === '__proto__' ? 'schema' : name;
}
