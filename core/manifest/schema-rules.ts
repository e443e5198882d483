import type { Manifest, ManifestRoute, RouteOperation } from '../contract/index.js';
import type { Path, Violation } from '../document/diagnostic.js';
import { Alternatives } from '../schema/alternatives.js';
import { hasUnreadableType } from '../schema/query-schema.js';
import { SchemaRules } from '../schema/schema-rules.js';
import { isSchemaObject, listSubschemas } from '../schema/subschema-keywords.js';
import { listPathNames, validateParameters } from './parameter-rules.js';
import { findDuplicates, nameOf, violationAt } from './violation-at.js';

export const SCHEMA_KEYS = [
  'input_schema',
  'output_schema',
  'query_schema',
  'path_params_schema',
] as const;

/** The schemas of objects whose members are texts of a request. */
const TEXT_KEYS = ['query_schema', 'path_params_schema'] as const;

/** Validates the shared schemas, those of routes, and the names of their examples. */
export function validateSchemas({
  schemas = {},
  http_routes = [],
}: Partial<Manifest>): Violation[] {
  const rules = new SchemaRules(schemas);
  const ofRoutes = http_routes.flatMap((route, index) => {
    const { operation } = route;
    if (operation === undefined) return [];
    const path = ['http_routes', index, 'operation'];
    return [
      ...SCHEMA_KEYS.flatMap((key) => validateSchema(operation, key, path, rules)),
      ...TEXT_KEYS.flatMap((key) => validateTexts(operation, key, path)),
      ...validatePathNames(route, path),
      ...validateParameters(route, path, (schema, place) =>
        rules.find(schema).map(toViolation(...place)),
      ),
      ...findDuplicates(operation.examples ?? [], [...path, 'examples'], nameOf, 'name'),
    ];
  });
  return [...rules.findShared().map(toViolation('schemas')), ...ofRoutes];
}

type SchemaProblem = ReturnType<SchemaRules['find']>[number];

function toViolation(...start: Path) {
  return ({ path, rule, message, hint }: SchemaProblem): Violation => {
    return violationAt([...start, ...path], rule, message, hint);
  };
}

function validateSchema(
  operation: RouteOperation,
  key: (typeof SCHEMA_KEYS)[number],
  path: Path,
  rules: SchemaRules,
): Violation[] {
  const schema = operation[key];
  if (schema === undefined || schema === null) return [];
  return rules.find(schema).map(toViolation(...path, key));
}

function validateTexts(
  operation: RouteOperation,
  key: (typeof TEXT_KEYS)[number],
  path: Path,
): Violation[] {
  const type = operation[key]?.['type'];
  if (type === undefined || type === 'object') return [];
  const message = `must be object, since a ${key === 'query_schema' ? 'query' : 'path'} has names`;
  return [violationAt([...path, key, 'type'], 'invalid-schema', message)];
}

/** Rejects properties that no value of the path could have. */
function validatePathNames({ path: template, operation }: ManifestRoute, path: Path): Violation[] {
  const properties = operation?.path_params_schema?.['properties'];
  if (!isSchemaObject(properties)) return [];
  const names = new Set(listPathNames(template));
  const unknown = Object.keys(properties).filter((name) => !names.has(name));
  return unknown.map((name) => {
    const place = [...path, 'path_params_schema', 'properties', name];
    const hint = 'use a parameter of the path, or remove it';
    return violationAt(place, 'unknown-parameter', 'is no parameter of the path', hint);
  });
}

const INDISTINCT = 'has an alternative that accepts nothing: another one accepts all its values';
const INDISTINCT_HINT = 'use anyOf; format is not checked';

/** Warns of alternatives that differ in nothing that the host checks. */
export function findIndistinctAlternatives({
  schemas = {},
  http_routes = [],
}: Partial<Manifest>): Violation[] {
  const alternatives = new Alternatives();
  const find = (schema: unknown, root: unknown, path: Path): Violation[] => {
    if (!isSchemaObject(schema)) return [];
    const { oneOf } = schema;
    const scope = { root, shared: schemas };
    const isWrong = Array.isArray(oneOf) && alternatives.areIndistinct(oneOf, scope);
    const inner = listSubschemas(schema).flatMap((one) =>
      find(one.value, root, [...path, ...one.path]),
    );
    if (!isWrong) return inner;
    const place = [...path, 'oneOf'];
    return [violationAt(place, 'indistinct-alternatives', INDISTINCT, INDISTINCT_HINT), ...inner];
  };
  const ofRoutes = http_routes.flatMap(({ operation }, index) => {
    return SCHEMA_KEYS.flatMap((key) => {
      const schema = operation?.[key];
      return find(schema, schema, ['http_routes', index, 'operation', key]);
    });
  });
  const shared = Object.entries(schemas);
  return [...shared.flatMap(([name, one]) => find(one, one, ['schemas', name])), ...ofRoutes];
}

/** Warns of parameters that no query can satisfy. */
export function findQueryWarnings({ http_routes = [] }: Partial<Manifest>): Violation[] {
  const all = http_routes.flatMap(({ operation }, index) =>
    TEXT_KEYS.map((key) => ({ index, key, properties: operation?.[key]?.['properties'] })),
  );
  return all.flatMap(({ index, key, properties }) => {
    if (!isSchemaObject(properties)) return [];
    const path = ['http_routes', index, 'operation', key, 'properties'];
    return Object.entries(properties).flatMap(([name, property]) => {
      const place = [...path, name];
      if (hasOnlyOtherValues(property)) {
        return violationAt(place, 'untyped-parameter', UNTYPED, UNTYPED_HINT);
      }
      return hasUnreadableType(property)
        ? violationAt(place, 'unreadable-parameter', UNREADABLE, UNREADABLE_HINT)
        : [];
    });
  });
}

const UNTYPED = 'has no type: values in a query are text, which equals none of the allowed values';
const UNTYPED_HINT = 'add the type integer, number or boolean';

const UNREADABLE = 'has a type that no value of a query is read as';
const UNREADABLE_HINT = 'use string, integer, number, boolean or array';

function hasOnlyOtherValues(property: unknown): boolean {
  if (!isSchemaObject(property) || property['type'] !== undefined) return false;
  const allowed = property['enum'] ?? (Object.hasOwn(property, 'const') ? [property['const']] : []);
  if (!Array.isArray(allowed) || allowed.length === 0) return false;
  return allowed.every((value) => typeof value === 'number' || typeof value === 'boolean');
}
