import { SCHEMA_KEYS } from '../../manifest/schema-rules.js';
import { Alternatives } from '../../schema/alternatives.js';
import { asList, isObject, type JsonObject } from '../json-value.js';
import { type DraftManifest, OPERATION_PLACE } from './draft-manifest.js';
import { markLost } from './lost-keywords.js';
import { mapSchemas } from './schema-keywords.js';
import type { UnmappedParts } from './unmapped.js';

const REASON =
  'two alternatives accept the same values, since format is not checked: it becomes anyOf';

/** Replaces each `oneOf` with an alternative that could accept nothing. */
export function joinAlternatives(
  { schemas, http_routes: routes }: DraftManifest,
  unmapped: UnmappedParts,
): void {
  const alternatives = new Alternatives();
  const join = <T>(root: T, place: string): T => {
    const joinOne = (schema: unknown): unknown => {
      if (!isObject(schema)) return schema;
      // A copy of all members also has the marks of those that were left out.
      const joined: Record<string, unknown> = { ...schema };
      for (const [keyword, value] of Object.entries(schema)) {
        joined[keyword] = mapSchemas(keyword, value, joinOne);
      }
      const { oneOf } = schema;
      if (!Array.isArray(oneOf)) return joined;
      if (!alternatives.areIndistinct(oneOf, { root, shared: schemas })) return joined;
      unmapped.add(place, 'keyword oneOf', REASON);
      return markLost(toAnyOf(joined), ['format']);
    };
    return joinOne(root) as T;
  };
  for (const [name, schema] of Object.entries(schemas)) {
    schemas[name] = join(schema, `the schema ${name}`);
  }
  for (const { [OPERATION_PLACE]: place, operation } of routes) {
    for (const name of SCHEMA_KEYS) {
      const schema = operation?.[name];
      if (operation !== undefined && schema !== undefined) operation[name] = join(schema, place);
    }
  }
}

function toAnyOf({ oneOf, ...others }: JsonObject): JsonObject {
  if (!('anyOf' in others)) return { ...others, anyOf: oneOf };
  return { ...others, allOf: [...asList(others['allOf']), { anyOf: oneOf }] };
}
