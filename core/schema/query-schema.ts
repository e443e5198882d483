import type { SchemaObject } from '../contract/index.js';
import { parsePointer } from '../lib/json/json-pointer.js';
import { type CompiledSchema, SchemaRegistry } from './compile-schema.js';
import { type CheckLimits, FULL_CHECK, MAX_VIOLATIONS } from './run.js';
import { resolveReference, type SchemaScope } from './shared-schemas.js';
import { isSchemaObject } from './subschema-keywords.js';

export interface QueryViolation {
  /** The parameter; `null` for the query as a whole, and for a name that does not decode. */
  readonly name: string | null;
  readonly reason: string;
}

const MAX_NAME_LENGTH = 256;
/** The maximum number of values of declared parameters. */
const MAX_VALUES = 1_000;
const TOO_MANY = `expected at most ${MAX_VALUES} values of declared parameters`;
/** RFC 8259, without white space. */
const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

interface Parameter {
  /** The type of its values; `text` for all but three types. */
  readonly reads: 'number' | 'boolean' | 'text';
  /** The expected form of a value that cannot be parsed. */
  readonly expects: string;
  readonly isList: boolean;
}

/** Decodes queries as forms, and checks them as objects. */
export class QuerySchema {
  readonly #parameters = new Map<string, Parameter>();
  readonly #compiled: CompiledSchema;
  readonly #isClosed: boolean;
  /** Whether names without a property are part of the checked object. */
  readonly #keepsOthers: boolean;

  constructor(schema: SchemaObject, registry = new SchemaRegistry({})) {
    const { properties, additionalProperties: others } = schema;
    const scope = { root: schema, shared: registry.shared };
    for (const [name, property] of Object.entries(isSchemaObject(properties) ? properties : {})) {
      this.#parameters.set(name, describeParameter(property, scope));
    }
    this.#compiled = registry.compile(schema);
    this.#isClosed = others === false;
    this.#keepsOthers = !isSchemaObject(others);
  }

  /**
   * @param query the raw query without the question mark
   * @throws CheckTooCostly beyond limits below the full ones.
   */
  findViolations(query: string, limits: CheckLimits = FULL_CHECK): readonly QueryViolation[] {
    const values = Object.create(null) as Record<string, unknown>;
    let declared = 0;
    const violations: QueryViolation[] = [];
    const report = (name: string | null, reason: string) => {
      violations.push({ name: name?.slice(0, MAX_NAME_LENGTH) ?? null, reason });
    };
    for (const [name, text] of splitForm(query)) {
      if (name !== null && this.#parameters.has(name)) declared += 1;
      if (declared > MAX_VALUES) return [{ name: null, reason: TOO_MANY }];
      if (name === null) report(null, 'expected names in UTF-8 with valid percent-encoding');
      else if (text === null) report(name, 'expected UTF-8 with valid percent-encoding');
      else this.#add(values, name, text, report);
      // Each name or value that does not decode throws an error, which takes a while.
      if (violations.length >= MAX_VIOLATIONS) break;
    }
    if (violations.length > 0) return violations;
    return this.#compiled.findViolations(values, limits).map(({ pointer, reason }) => {
      const [name] = parsePointer(pointer);
      return { name: name?.slice(0, MAX_NAME_LENGTH) ?? null, reason };
    });
  }

  #add(
    values: Record<string, unknown>,
    name: string,
    text: string,
    report: (name: string, reason: string) => void,
  ): void {
    const parameter = this.#parameters.get(name);
    if (parameter === undefined) {
      if (this.#isClosed || this.#keepsOthers) values[name] ??= text;
      return;
    }
    const value = readText(text, parameter.reads);
    if (value === undefined) report(name, `expected ${parameter.expects}`);
    else if (parameter.isList) addTo(values, name, value);
    else if (name in values) report(name, 'repeated');
    else values[name] = value;
  }
}

function addTo(values: Record<string, unknown>, name: string, value: unknown): void {
  const list = values[name];
  if (Array.isArray(list)) list.push(value);
  else values[name] = [value];
}

/** Names and values, decoded one by one; `null` for those that cannot be decoded. */
export function* splitForm(
  query: string,
): Generator<readonly [name: string | null, text: string | null]> {
  for (const pair of query.split('&')) {
    if (pair === '') continue;
    const equals = pair.indexOf('=');
    const name = equals === -1 ? pair : pair.slice(0, equals);
    yield [decode(name), decode(equals === -1 ? '' : pair.slice(equals + 1))];
  }
}

function decode(text: string): string | null {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return null;
  }
}

function describeParameter(property: unknown, scope: SchemaScope): Parameter {
  const target = followReferences(property, scope);
  const isList = listTypes(target.schema).includes('array');
  const value = isList
    ? followReferences(target.schema?.['items'], target.scope).schema
    : target.schema;
  return { ...describeReading(value), isList };
}

/** The referenced schema of a property, since its type decides how a value is parsed. */
function followReferences(written: unknown, start: SchemaScope) {
  let schema = written;
  let scope = start;
  while (isSchemaObject(schema) && schema['type'] === undefined && schema['$ref'] !== undefined) {
    const target = resolveReference(scope, schema['$ref']);
    schema = target?.value;
    scope = target?.scope ?? scope;
  }
  return { schema: isSchemaObject(schema) ? schema : null, scope };
}

function describeReading(schema: SchemaObject | null): Pick<Parameter, 'reads' | 'expects'> {
  const types = listTypes(schema).filter((type) => type !== 'null');
  const isAll = (...names: readonly string[]) =>
    types.length > 0 && types.every((type) => names.some((name) => name === type));
  if (isAll('integer')) return { reads: 'number', expects: 'integer' };
  if (isAll('integer', 'number')) return { reads: 'number', expects: 'number' };
  if (isAll('boolean')) return { reads: 'boolean', expects: 'boolean' };
  return { reads: 'text', expects: 'text' };
}

/**
 * Detects types such as objects, null alone, and numbers beside booleans, as which no value of a
 * query can be parsed.
 */
export function hasUnreadableType(property: unknown): boolean {
  if (!isSchemaObject(property) || property['type'] === undefined) return false;
  const types = listTypes(property);
  if (types.includes('string') || types.includes('array')) return false;
  return describeReading(property).reads === 'text';
}

function listTypes(schema: SchemaObject | null): readonly unknown[] {
  const type = schema?.['type'];
  return Array.isArray(type) ? type : [type];
}

/** Returns `undefined` for a text that is not of this type. */
function readText(text: string, reads: Parameter['reads']): unknown {
  if (reads === 'text') return text;
  if (reads === 'number') return NUMBER.test(text) ? Number(text) : undefined;
  return text === 'true' ? true : text === 'false' ? false : undefined;
}
