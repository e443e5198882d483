import { escapeInvisible, type JsonSchema, type Manifest } from '../../core/contract/index.js';
import { isObject, type JsonObject } from './describe-form.js';

const SHARED = 'manifest:schemas/';
const LOCAL = /^#\/(\$defs|definitions)\/([A-Za-z0-9_.-]+)$/;
/** Keywords that clients evaluate like the host; they differ in the meaning of others. */
const KEYWORDS: ReadonlySet<string> = new Set([
  ...['$defs', '$ref', 'additionalProperties', 'anyOf', 'const', 'definitions', 'description'],
  ...['enum', 'items', 'maxItems', 'maxLength', 'maximum', 'minItems', 'minLength', 'minimum'],
  ...['properties', 'required', 'title', 'type'],
]);
const BESIDE_REFERENCE: ReadonlySet<string> = new Set([
  ...['$defs', '$ref', 'definitions', 'description', 'title'],
]);
type Schemas = NonNullable<Manifest['schemas']>;

/** A schema with the document that its local references point into. */
interface Place {
  readonly schema: unknown;
  readonly root: unknown;
}

/**
 * Whether a parser keeps every object that the schema admits, and clients validate it like the host:
 * all members are known, and no number can be one that a parser changes.
 */
export function isExactObject(schema: JsonSchema, shared: Schemas): boolean {
  const prover = new Prover(shared);
  const place = prover.follow({ schema, root: schema });
  return isObject(place?.schema) && place.schema['type'] === 'object' && prover.isExact(place);
}

class Prover {
  readonly #shared: Schemas;
  /** Assumed to be exact, so that the proof of a recursive schema ends. */
  readonly #visited = new Set<unknown>();

  constructor(shared: Schemas) {
    this.#shared = shared;
  }

  /** The schema that a chain of references names; `null` if it is not found. */
  follow(place: Place): Place | null {
    const seen = new Set<unknown>();
    let next: Place | null = place;
    while (next !== null && isObject(next.schema) && '$ref' in next.schema) {
      if (seen.has(next.schema)) return null;
      if (!Object.keys(next.schema).every((keyword) => BESIDE_REFERENCE.has(keyword))) return null;
      seen.add(next.schema);
      next = this.#resolve(String(next.schema['$ref']), next.root);
    }
    return next;
  }

  #resolve(reference: string, root: unknown): Place | null {
    if (reference === '#') return { schema: root, root };
    if (reference.startsWith(SHARED)) {
      const schema = this.#shared[reference.slice(SHARED.length)];
      return { schema, root: schema };
    }
    const [, map = '', name = ''] = LOCAL.exec(reference) ?? [];
    const definitions = isObject(root) ? root[map] : undefined;
    return isObject(definitions) ? { schema: definitions[name], root } : null;
  }

  isExact(place: Place): boolean {
    const found = this.follow(place);
    if (found === null || !isObject(found.schema)) return false;
    const { schema, root } = found;
    if (this.#visited.has(schema)) return true;
    this.#visited.add(schema);
    const { type, enum: values, const: value, anyOf } = schema;
    if (!Object.keys(schema).every((keyword) => KEYWORDS.has(keyword))) return false;
    if (!isPlainList(schema['required'] ?? [])) return false;
    if (values !== undefined) return isPlainList(values);
    if (value !== undefined) return isPlainList([value]);
    if (anyOf !== undefined) return this.#areExact(anyOf, root);
    const types = Array.isArray(type) ? type : [type];
    return types.every((name) => this.#isExactType(name, schema, root));
  }

  #areExact(schemas: unknown, root: unknown): boolean {
    return Array.isArray(schemas) && schemas.every((schema) => this.isExact({ schema, root }));
  }

  #isExactType(type: unknown, schema: JsonObject, root: unknown): boolean {
    if (type === 'string' || type === 'boolean' || type === 'null') return true;
    if (type === 'integer') return isSafe(schema['minimum']) && isSafe(schema['maximum']);
    if (type === 'array') return this.#areExact([schema['items']], root);
    if (type !== 'object') return false;
    const { properties = {}, additionalProperties } = schema;
    return (
      isObject(properties) &&
      isPlainList(Object.keys(properties)) &&
      this.#areExact(Object.values(properties), root) &&
      (additionalProperties === false || this.#areExact([additionalProperties], root))
    );
  }
}

/**
 * Values without numbers, without characters that the schema of a tool has as escapes, and without
 * names such as `toString`, which validators find in every object.
 */
function isPlainList(values: unknown): boolean {
  return (
    Array.isArray(values) &&
    values.every((value) => {
      if (typeof value === 'string') return escapeInvisible(value) === value && !(value in {});
      return typeof value === 'boolean' || value === null;
    })
  );
}

function isSafe(bound: unknown): boolean {
  return typeof bound === 'number' && Number.isSafeInteger(Math.trunc(bound));
}
