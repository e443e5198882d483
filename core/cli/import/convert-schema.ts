import { asList, asObject, isObject, type JsonObject } from '../json-value.js';
import { explainContradiction } from './contradictions.js';
import { convertDiscriminator } from './convert-discriminator.js';
import { hasLost, lostOf, markLost } from './lost-keywords.js';
import type { Direction, MarkedMembers } from './marked-members.js';
import { followAny, type OpenApiDocument } from './openapi-document.js';
import { resolveExample } from './resolve-example.js';
import {
  countsBesideReference,
  DROPPED_DEFINITIONS,
  formOfSchemas,
  KEPT_KEYWORDS,
  LOOKS_LIKE_SCHEMA,
} from './schema-keywords.js';
import type { SharedDefinitions } from './shared-definitions.js';
import type { Report, UnmappedParts } from './unmapped.js';

interface SchemaContext {
  readonly document: OpenApiDocument;
  readonly direction: Direction;
  readonly unmapped: UnmappedParts;
  /** Lists a part of the operation. */
  readonly report: Report;
  readonly shared: SharedDefinitions;
}

/**
 * Converts a schema of a document to JSON Schema 2020-12. Referenced schemas become shared schemas
 * of the manifest. Returns `null` if any value is valid.
 */
export function convertSchema(schema: unknown, context: SchemaContext): JsonObject | null {
  const converted = new SchemaConversion(context).convert(schema);
  if (converted === true) return null;
  if (converted === false) return { not: {} };
  return Object.keys(converted).length === 0 && !hasLost(converted) ? null : converted;
}

class SchemaConversion {
  readonly #context: SchemaContext;
  /** Requests do not require read-only members, and responses do not require write-only ones. */
  readonly #notRequired: MarkedMembers;

  constructor(context: SchemaContext) {
    this.#context = context;
    this.#notRequired = context.shared.notRequired(context.direction);
  }

  /** @param enclosing the schemas whose `allOf` has this one: all describe the same value */
  convert(schema: unknown, enclosing: readonly JsonObject[] = []): JsonObject | boolean {
    if (typeof schema === 'boolean') return schema;
    if (!isObject(schema)) return {};
    const { $ref: reference } = schema;
    if (typeof reference !== 'string') {
      return allowNull(this.#convertMembers(schema, enclosing), schema);
    }
    const target = this.#convertReference(reference);
    const beside = Object.entries(schema).filter(([keyword]) => {
      return countsBesideReference(keyword, this.#context.document);
    });
    const siblings = this.#convertMembers(Object.fromEntries(beside), enclosing);
    return allowNull(markLost({ ...target, ...siblings }, lostOf(target)), schema);
  }

  #convertReference(reference: string): JsonObject {
    const referred = this.#context.shared.refer(reference, this.#context.direction);
    if (typeof referred !== 'string') return referred;
    this.#context.report(referred, 'any value is accepted there');
    return markLost({}, ['$ref']);
  }

  #convertMembers(schema: JsonObject, enclosing: readonly JsonObject[]): JsonObject {
    const around = [...enclosing, schema];
    const lost = new Set<string>();
    const conditions = convertDiscriminator(this.#context.document, schema, (branch) =>
      this.convert(branch),
    );
    const members = Object.entries(schema).flatMap(([keyword, written]): [string, unknown][] => {
      const form = DROPPED_DEFINITIONS.has(keyword) ? null : formOfSchemas(keyword);
      const isReferred = form === 'map' || form === 'list' || LISTS.has(keyword);
      const { value, problem } = isReferred
        ? followAny(this.#context.document, written)
        : { value: written, problem: null };
      if (problem !== null) {
        this.#context.report(`keyword ${keyword}`, `it is ${problem}`);
        lost.add(keyword);
        return [];
      }
      if (form === 'map') {
        const all = Object.entries(asObject(value));
        const schemas = all.filter(([name]) => this.#isUsable(name));
        if (schemas.length < all.length || !isObject(value)) lost.add(keyword);
        const converted = schemas.map(([name, part]) => [name, this.convert(part)]);
        return [[keyword, Object.fromEntries(converted)]];
      }
      if (form === 'list') {
        if (!Array.isArray(value)) {
          this.#context.report(`keyword ${keyword}`, 'it is not a list of schemas');
          lost.add(keyword);
          return [];
        }
        const above = keyword === 'allOf' ? around : [];
        const isNamed = keyword === 'oneOf' && conditions.length > 0;
        return [[isNamed ? 'anyOf' : keyword, value.map((part) => this.convert(part, above))]];
      }
      if (form === 'one') return [[keyword, this.convert(value)]];
      if (keyword === 'discriminator' && conditions.length > 0) return [];
      const kept =
        keyword === 'required'
          ? this.#convertRequired(value, around)
          : this.#convertKeyword(keyword, value, schema);
      if (isLost(value, kept, keyword)) lost.add(keyword);
      return kept;
    });
    const converted = Object.fromEntries(members);
    if (conditions.length > 0) {
      const all = converted['allOf'];
      converted['allOf'] = Array.isArray(all) ? [...all, { allOf: conditions }] : conditions;
    }
    return markLost(converted, lost);
  }

  #isUsable(name: string): boolean {
    const isUsable = name !== '__proto__' && name.isWellFormed();
    if (!isUsable) this.#context.report('a property', 'a manifest cannot hold its name');
    return isUsable;
  }

  #convertKeyword(keyword: string, value: unknown, schema: JsonObject): [string, unknown][] {
    switch (keyword) {
      case '$ref':
      case 'nullable':
        return [];
      case 'example':
        return schema['examples'] === undefined ? this.#convertExamples([value]) : [];
      case 'examples':
        return this.#convertExamples(Array.isArray(value) ? value : [value]);
      case 'exclusiveMinimum':
        return convertBound(keyword, value, schema['minimum']);
      case 'exclusiveMaximum':
        return convertBound(keyword, value, schema['maximum']);
      case 'minimum':
        return schema['exclusiveMinimum'] === true ? [] : [[keyword, value]];
      case 'maximum':
        return schema['exclusiveMaximum'] === true ? [] : [[keyword, value]];
      case 'type':
        return this.#convertType(value);
    }
    const contradiction = explainContradiction(keyword, value, schema);
    if (contradiction !== null) {
      this.#context.report(`keyword ${keyword}`, `${contradiction}: the host does not check it`);
      return [];
    }
    if (KEPT_KEYWORDS.has(keyword)) return [[keyword, value]];
    if (!DROPPED_DEFINITIONS.has(keyword)) {
      const part = keyword.startsWith('x-') ? 'keywords x-…' : `keyword ${keyword}`;
      // Reported once for the document, because the schemas of many operations share their parts.
      this.#context.unmapped.add('the schemas', part, 'it has no meaning for the host');
    }
    return [];
  }

  #convertExamples(values: readonly unknown[]): [string, unknown][] {
    const usable = values.flatMap((value) => {
      const resolved = resolveExample(this.#context.document, value);
      return resolved === null ? [] : [resolved.value];
    });
    if (usable.length < values.length)
      this.#context.report('example in a schema', LOOKS_LIKE_SCHEMA);
    return usable.length === 0 ? [] : [['examples', usable]];
  }

  #convertRequired(value: unknown, around: readonly JsonObject[]): [string, unknown][] {
    // Some documents write `required: true` into a property, where it has no meaning.
    if (!Array.isArray(value)) return [];
    const names = new Set(value.filter((name) => typeof name === 'string'));
    const required = [...names].filter((name) => {
      return !around.some((schema) => this.#notRequired.of(schema).has(name));
    });
    return required.length === 0 ? [] : [['required', required]];
  }

  #convertType(value: unknown): [string, unknown][] {
    const types: readonly unknown[] = Array.isArray(value) ? value : [value];
    if (types.length > 0 && types.every((typeName) => TYPES.has(typeName)))
      return [['type', value]];
    this.#context.report('a type that JSON Schema does not have', 'any value is accepted there');
    return [];
  }
}

/** Keywords with a list, which some documents keep elsewhere. */
const LISTS: ReadonlySet<string> = new Set(['enum', 'required', 'type']);

/** Keywords that are converted as they are, or left out. */
const WHOLE: ReadonlySet<string> = new Set(['$dynamicRef', 'const', 'enum', 'pattern', 'type']);

/** Whether the conversion of a keyword accepts more than the keyword. */
function isLost(value: unknown, [kept]: readonly [string, unknown][], keyword: string): boolean {
  if (WHOLE.has(keyword)) return kept === undefined;
  if (keyword !== 'required' || !Array.isArray(value)) return false;
  return new Set(value).size > asList(kept?.[1]).length;
}

const TYPES: ReadonlySet<unknown> = new Set([
  'array',
  'boolean',
  'integer',
  'null',
  'number',
  'object',
  'string',
]);

/** In OpenAPI 3.0 the keyword is a boolean, and `minimum` has the number. */
function convertBound(keyword: string, value: unknown, bound: unknown): [string, unknown][] {
  if (typeof value !== 'boolean') return [[keyword, value]];
  return value && typeof bound === 'number' ? [[keyword, bound]] : [];
}

/** `nullable` beside references and combinations can only mean that null is valid. */
function allowNull(converted: JsonObject, { nullable }: JsonObject): JsonObject {
  if (nullable !== true || Object.keys(converted).length === 0) return converted;
  const { type } = converted;
  const isCombined = ['$ref', 'allOf', 'anyOf', 'oneOf', 'const', 'not', 'if'].some(
    (keyword) => keyword in converted,
  );
  if (type === undefined || isCombined) return { anyOf: [converted, { type: 'null' }] };
  const types = new Set([...(Array.isArray(type) ? type : [type]), 'null']);
  const values = converted['enum'];
  if (!Array.isArray(values)) return { ...converted, type: [...types] };
  return { ...converted, type: [...types], enum: [...new Set([...values, null])] };
}
