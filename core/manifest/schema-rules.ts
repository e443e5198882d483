import type { Manifest, RouteOperation } from '../contract/index.js';
import type { Path, Violation } from '../document/diagnostic.js';
import { findSchemaProblems } from '../schema/schema-rules.js';
import { findDuplicates, nameOf, violationAt } from './violation-at.js';

const SCHEMA_KEYS = ['input_schema', 'output_schema', 'query_schema'] as const;

/** The schemas of routes, and the names of their examples. */
export function validateSchemas({ http_routes = [] }: Partial<Manifest>): Violation[] {
  return http_routes.flatMap(({ operation }, index) => {
    if (operation === undefined) return [];
    const path = ['http_routes', index, 'operation'];
    return [
      ...SCHEMA_KEYS.flatMap((key) => validateSchema(operation, key, path)),
      ...validateQuery(operation, path),
      ...findDuplicates(operation.examples ?? [], [...path, 'examples'], nameOf, 'name'),
    ];
  });
}

function validateSchema(
  operation: RouteOperation,
  key: (typeof SCHEMA_KEYS)[number],
  path: Path,
): Violation[] {
  const schema = operation[key];
  if (schema === undefined || schema === null) return [];
  return findSchemaProblems(schema).map((problem) =>
    violationAt([...path, key, ...problem.path], problem.rule, problem.message, problem.hint),
  );
}

function validateQuery({ query_schema: schema }: RouteOperation, path: Path): Violation[] {
  const type = schema?.['type'];
  if (type === undefined || type === 'object') return [];
  const place = [...path, 'query_schema', 'type'];
  return [violationAt(place, 'invalid-schema', 'must be object, since a query has names')];
}
