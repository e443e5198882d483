import { formatPointer } from '../lib/json/json-pointer.js';
import { parseStrictJson } from '../lib/json/json-structure.js';
import type { CompiledSchema } from './compile-schema.js';
import {
  type CheckLimits,
  MAX_POINTER_LENGTH,
  MAX_VIOLATIONS,
  type SchemaViolation,
} from './run.js';

/** The limit is that of the console bridge. */
const MAX_DEPTH = 1000;

const REASONS = {
  repeated: 'repeated',
  'too deep': `nested beyond ${MAX_DEPTH} levels`,
} as const;

/**
 * Finds the violations of a schema in bytes of valid JSON in UTF-8. Repeated members and deep
 * nesting are violations too: the provider may read another value than the validated one.
 * @throws CheckTooCostly beyond limits below the full ones.
 */
export function checkBody(
  schema: CompiledSchema,
  body: Buffer,
  limits: CheckLimits,
): readonly SchemaViolation[] {
  const { value, problems } = parseStrictJson(body, MAX_DEPTH, MAX_VIOLATIONS);
  if (problems.length === 0) return schema.findViolations(value, limits);
  return problems.map(({ path, problem }) => ({
    pointer: formatPointer(path).slice(0, MAX_POINTER_LENGTH),
    reason: REASONS[problem],
  }));
}
