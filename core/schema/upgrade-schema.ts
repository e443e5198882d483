import { formatPointer, type JsonPath, parseReference } from '../lib/json/json-pointer.js';
import { readSharedName } from './shared-schemas.js';
import { isSchemaObject } from './subschema-keywords.js';

type SchemaObject = Readonly<Record<string, unknown>>;

/** The drafts before 2020-12, the oldest first. */
const DRAFTS = ['draft-03', 'draft-04', 'draft-06', 'draft-07', '2019-09'] as const;

type Draft = (typeof DRAFTS)[number];

const DRAFT_URI =
  /^https?:\/\/json-schema\.org\/(?:(draft-0[3467])|draft\/(2019-09))\/(?:hyper-)?schema#?$/;

/** The keywords of 2020-12 that constrain values, by the draft that has them first; others are older or new. */
const SINCE: Readonly<Record<string, Draft | null>> = {
  allOf: 'draft-04',
  anyOf: 'draft-04',
  oneOf: 'draft-04',
  not: 'draft-04',
  maxProperties: 'draft-04',
  minProperties: 'draft-04',
  multipleOf: 'draft-04',
  const: 'draft-06',
  contains: 'draft-06',
  propertyNames: 'draft-06',
  if: 'draft-07',
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
  then: 'draft-07',
  else: 'draft-07',
  dependentRequired: '2019-09',
  dependentSchemas: '2019-09',
  maxContains: '2019-09',
  minContains: '2019-09',
  unevaluatedItems: '2019-09',
  unevaluatedProperties: '2019-09',
  prefixItems: null,
  $dynamicRef: null,
};

/** Keywords of older drafts that are turned into others, or cannot be turned. */
const GONE = new Set([
  ...['$schema', '$anchor', '$recursiveRef', '$recursiveAnchor', '$dynamicAnchor'],
  ...['additionalItems', 'dependencies', 'divisibleBy', 'disallow', 'extends'],
]);

/** Beside a reference, drafts before 2019-09 read nothing but what the reference may point to. */
const BESIDE_REFERENCE = new Set([
  ...['$ref', '$schema', '$id', 'id', '$defs', 'definitions', '$comment'],
  ...['title', 'description', 'default', 'examples'],
]);

const MAPS = new Set([
  'properties',
  'patternProperties',
  'dependentSchemas',
  '$defs',
  'definitions',
]);
const LISTS = new Set(['allOf', 'anyOf', 'oneOf']);
const ONES = new Set([
  ...['not', 'if', 'then', 'else', 'contains', 'propertyNames', 'items'],
  ...['additionalProperties', 'unevaluatedItems', 'unevaluatedProperties'],
]);

/**
 * Turns a schema of an older draft, which its `$schema` names, into one of 2020-12 that accepts at least the same
 * values: what cannot be turned is left out. Other schemas are returned as they are.
 */
export function upgradeSchema(schema: unknown): unknown {
  const draft = readDraft(schema);
  if (draft === null) return schema;
  const upgrade = new Upgrade(schema, draft, false);
  const { schema: upgraded, isWider } = upgrade.convert(schema);
  if (!isWider && !upgrade.hasWiderDefinition) return upgraded;
  // A reference may lead to a part that accepts more than it did.
  return new Upgrade(schema, draft, true).convert(schema).schema;
}

function readDraft(schema: unknown): Draft | null {
  const uri = isSchemaObject(schema) ? schema['$schema'] : undefined;
  const [, draft, version] = (typeof uri === 'string' && DRAFT_URI.exec(uri)) || [];
  return ((draft ?? version) as Draft | undefined) ?? null;
}

interface Upgraded {
  readonly schema: unknown;
  /** Whether it may accept more than before. */
  readonly isWider: boolean;
}

class Upgrade {
  readonly #root: unknown;
  readonly #draft: Draft;
  readonly #areReferencesWider: boolean;
  /** Whether a definition accepts more than before. */
  hasWiderDefinition = false;

  constructor(root: unknown, draft: Draft, areReferencesWider: boolean) {
    this.#root = root;
    this.#draft = draft;
    this.#areReferencesWider = areReferencesWider;
  }

  convert(schema: unknown): Upgraded {
    if (!isSchemaObject(schema)) return { schema, isWider: false };
    const { $ref } = schema;
    const isReference = typeof $ref === 'string';
    const read =
      isReference && this.#isBefore('2019-09')
        ? Object.fromEntries(Object.entries(schema).filter(([name]) => BESIDE_REFERENCE.has(name)))
        : schema;
    const target = new Target();
    for (const [keyword, value] of Object.entries(read)) this.#add(keyword, value, read, target);
    this.#addTurned(read, target);
    return target.finish();
  }

  #isBefore(draft: Draft): boolean {
    return DRAFTS.indexOf(this.#draft) < DRAFTS.indexOf(draft);
  }

  /** Whether the draft does not have the keyword, so that it constrains nothing. */
  #isUnknown(keyword: string): boolean {
    if (!Object.hasOwn(SINCE, keyword)) return false;
    const since = SINCE[keyword] ?? null;
    return since === null || this.#isBefore(since);
  }

  #add(keyword: string, value: unknown, schema: SchemaObject, target: Target): void {
    if (GONE.has(keyword) || this.#isUnknown(keyword)) return;
    if (keyword === '$ref') this.#addReference(value, target);
    else if (keyword === '$id') {
      if (schema === this.#root) target.set(keyword, value);
    } else if (keyword === 'items' && Array.isArray(value)) return;
    else if (MAPS.has(keyword) && isSchemaObject(value)) {
      const parts = Object.entries(value).map(
        ([name, part]) => [name, this.convert(part)] as const,
      );
      const schemas = Object.fromEntries(parts.map(([name, part]) => [name, part.schema]));
      const isWider = parts.some(([, part]) => part.isWider);
      const isDefinition = keyword === '$defs' || keyword === 'definitions';
      if (isDefinition && isWider) this.hasWiderDefinition = true;
      target.set(keyword, schemas, !isDefinition && isWider);
    } else if (LISTS.has(keyword) && Array.isArray(value)) this.#addList(keyword, value, target);
    else if (ONES.has(keyword)) {
      const part = this.convert(value);
      target.set(keyword, part.schema, part.isWider);
    } else this.#addPlain(keyword, value, schema, target);
  }

  #addReference(value: unknown, target: Target): void {
    if (typeof value !== 'string') return;
    const path = parseReference(value);
    if (path === null && readSharedName(value) === null) target.widen();
    else {
      const moved = path === null ? value : `#${encodeURI(formatPointer(this.#move(path)))}`;
      target.set('$ref', moved, this.#areReferencesWider);
    }
  }

  /** Where the parts at a path of the older schema are in the new one. */
  #move(path: readonly string[]): JsonPath {
    let value: unknown = this.#root;
    let isSchema = true;
    return path.map((step) => {
      const before = value;
      value = Object.hasOwn(Object(value), step) ? Reflect.get(Object(value), step) : undefined;
      if (!isSchema) {
        isSchema = true;
        return step;
      }
      isSchema = !(MAPS.has(step) || step === 'dependencies' || Array.isArray(value));
      if (step === 'items' && Array.isArray(value)) return 'prefixItems';
      if (step === 'additionalItems' && Array.isArray(Reflect.get(Object(before), 'items'))) {
        return 'items';
      }
      return step === 'dependencies' ? 'dependentSchemas' : step;
    });
  }

  #addList(keyword: string, list: readonly unknown[], target: Target): void {
    const parts = list.map((part) => this.convert(part));
    const isWider = parts.some((part) => part.isWider);
    // Alternatives that accept more could accept a value twice.
    const name = keyword === 'oneOf' && isWider ? 'anyOf' : keyword;
    if (name !== keyword && list.length > 0 && target.has(name)) target.widen();
    else
      target.set(
        name,
        parts.map((part) => part.schema),
        isWider,
      );
  }

  #addPlain(keyword: string, value: unknown, schema: SchemaObject, target: Target): void {
    const bound = { exclusiveMinimum: 'minimum', exclusiveMaximum: 'maximum' }[keyword];
    if (bound !== undefined && typeof value === 'boolean') {
      if (value && typeof schema[bound] === 'number') target.set(keyword, schema[bound]);
    } else if (keyword === 'minimum' || keyword === 'maximum') {
      const name = keyword === 'minimum' ? 'exclusiveMinimum' : 'exclusiveMaximum';
      if (schema[name] !== true) target.set(keyword, value);
    } else if (keyword === 'required' && !Array.isArray(value)) {
      // Draft 3 has a boolean in the property.
      target.widen();
    } else if (keyword === 'type' && this.#draft === 'draft-03' && !isPlainType(value)) {
      target.widen();
    } else target.set(keyword, value);
  }

  /** The keywords that 2020-12 has under other names. */
  #addTurned(schema: SchemaObject, target: Target): void {
    const { items, additionalItems, dependencies, $recursiveRef } = schema;
    if (Array.isArray(items)) {
      const parts = items.map((item) => this.convert(item));
      if (parts.length > 0) {
        const prefix = parts.map((part) => part.schema);
        target.set(
          'prefixItems',
          prefix,
          parts.some((part) => part.isWider),
        );
      }
      const others = this.convert(additionalItems ?? {});
      if (additionalItems !== undefined) target.set('items', others.schema, others.isWider);
    }
    if (isSchemaObject(dependencies) && this.#isBefore('2019-09')) {
      this.#addDependencies(dependencies, target);
    }
    if ($recursiveRef !== undefined && this.#draft === '2019-09') {
      if (target.has('$ref')) target.widen();
      else this.#addReference($recursiveRef, target);
    }
    const lost = ['divisibleBy', 'disallow', 'extends'].some((name) => Object.hasOwn(schema, name));
    if (this.#draft === 'draft-03' && lost) target.widen();
  }

  #addDependencies(dependencies: SchemaObject, target: Target): void {
    const entries = Object.entries(dependencies).map(([name, value]) => {
      return [name, typeof value === 'string' ? [value] : value] as const;
    });
    const names = entries.filter(([, value]) => Array.isArray(value));
    if (names.length > 0) target.set('dependentRequired', Object.fromEntries(names));
    const parts = entries
      .filter(([, value]) => !Array.isArray(value))
      .map(([name, value]) => [name, this.convert(value)] as const);
    if (parts.length === 0) return;
    const schemas = Object.fromEntries(parts.map(([name, part]) => [name, part.schema]));
    target.set(
      'dependentSchemas',
      schemas,
      parts.some(([, part]) => part.isWider),
    );
  }
}

const TYPES = new Set(['array', 'boolean', 'integer', 'null', 'number', 'object', 'string']);

function isPlainType(value: unknown): boolean {
  const types: readonly unknown[] = Array.isArray(value) ? value : [value];
  return types.every((name) => typeof name === 'string' && TYPES.has(name));
}

/** Keywords that depend on what other keywords of the schema, or of its branches, accept or cover. */
const DEPENDENT = ['unevaluatedItems', 'unevaluatedProperties', 'maxContains'] as const;

/** A schema under construction. */
class Target {
  readonly #members: Record<string, unknown> = {};
  readonly #wider = new Set<string>();
  #isWider = false;

  has(keyword: string): boolean {
    return Object.hasOwn(this.#members, keyword);
  }

  set(keyword: string, value: unknown, isWider = false): void {
    Object.defineProperty(this.#members, keyword, {
      value,
      enumerable: true,
      writable: true,
      configurable: true,
    });
    if (isWider) this.#wider.add(keyword);
  }

  /** A part is left out. */
  widen(): void {
    this.#isWider = true;
  }

  /** Removes keywords that would reject more because another one accepts more. */
  finish(): Upgraded {
    const isWider = this.#isWider || this.#wider.size > 0;
    if (this.#wider.has('not')) delete this.#members['not'];
    if (this.#wider.has('if')) {
      for (const name of ['if', 'then', 'else']) delete this.#members[name];
    }
    if (isWider) for (const name of DEPENDENT) delete this.#members[name];
    return { schema: this.#members, isWider };
  }
}
