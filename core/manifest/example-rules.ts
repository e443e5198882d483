import type { JsonSchema, Manifest } from '../contract/index.js';
import type { Path, Violation } from '../document/diagnostic.js';
import { findAtPath, parsePointer } from '../lib/json/json-pointer.js';
import { SchemaRegistry } from '../schema/compile-schema.js';
import { violationAt } from './violation-at.js';

/**
 * Finds examples that violate the schemas of their route. Hosts ignore them, because they are
 * documentation.
 */
export function validateExamples({ schemas = {}, http_routes }: Manifest): Violation[] {
  const registry = new SchemaRegistry(schemas);
  return http_routes.flatMap(({ operation }, index) => {
    const { input_schema: input, output_schema: output, examples = [] } = operation ?? {};
    return examples.flatMap((example, exampleIndex) => {
      const path = ['http_routes', index, 'operation', 'examples', exampleIndex];
      return [
        ...validateExample(input, example.input, [...path, 'input'], registry),
        ...validateExample(output, example.output, [...path, 'output'], registry),
      ];
    });
  });
}

function validateExample(
  schema: JsonSchema | null | undefined,
  value: unknown,
  path: Path,
  registry: SchemaRegistry,
): Violation[] {
  if (schema === undefined || schema === null || value === undefined) return [];
  return registry
    .compile(schema)
    .findViolations(value)
    .map(({ pointer, reason }) => {
      const place = [...path, ...findPlace(value, pointer)];
      return violationAt(place, 'invalid-example', `violates the schema: ${reason}`);
    });
}

/** The path of a pointer; a missing member has a path too. */
function findPlace(value: unknown, pointer: string): Path {
  const keys = parsePointer(pointer);
  const match = findAtPath(value, keys);
  if (match !== null) return match.path;
  const parent = findAtPath(value, keys.slice(0, -1));
  return parent === null ? [] : [...parent.path, ...keys.slice(-1)];
}
