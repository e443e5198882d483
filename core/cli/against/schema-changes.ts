import type { RouteOperation } from '../../contract/index.js';
import { compareSchemas, type SchemaDifference, type SchemaEffect } from './compare-schemas.js';

/** A change of a schema as callers notice it. */
export interface SchemaChange {
  readonly schema: 'input' | 'query' | 'output';
  /** `/amount`; empty for the value as a whole. */
  readonly place: string;
  readonly change: string;
  /** Whether a caller that works today may fail. */
  readonly breaks: boolean;
}

const KEYS = { input: 'input_schema', query: 'query_schema', output: 'output_schema' } as const;

/** A request fails if fewer are accepted; a reader of responses fails if they have more kinds, or lack something. */
const BREAKING: Readonly<Record<'request' | 'response', readonly SchemaEffect[]>> = {
  request: ['narrower', 'other'],
  response: ['wider', 'other', 'removed'],
};

export function listSchemaChanges(
  before: RouteOperation | undefined,
  after: RouteOperation | undefined,
): SchemaChange[] {
  return (['input', 'query', 'output'] as const).flatMap((schema) => {
    const key = KEYS[schema];
    const differences = compareSchemas(before?.[key], after?.[key]);
    const breaking = BREAKING[schema === 'output' ? 'response' : 'request'];
    return keepWorst(differences, breaking).map(({ place, effect, what }): SchemaChange => {
      return { schema, place, change: what, breaks: breaking.includes(effect) };
    });
  });
}

/** A removed property has two effects; only the one that breaks callers is listed. */
function keepWorst(
  differences: readonly SchemaDifference[],
  breaking: readonly SchemaEffect[],
): SchemaDifference[] {
  return differences.filter((one) => {
    if (breaking.includes(one.effect)) return true;
    const others = differences.filter((other) => other !== one && other.place === one.place);
    return !others.some(({ effect }) => breaking.includes(effect));
  });
}
