import { isDeeper } from '../../lib/json/is-deeper.js';
import { MAX_DEPTH } from '../../schema/schema-rules.js';
import { formatSharedReference } from '../../schema/shared-schemas.js';
import { isObject, type JsonObject } from '../json-value.js';
import type { DraftManifest, SharedDraft } from './draft-manifest.js';
import { lostOf, markLost } from './lost-keywords.js';
import { mapSchemas } from './schema-keywords.js';

/** A schema around it adds at most two levels: its keyword, and a name or an index. */
const MAX_INNER_DEPTH = MAX_DEPTH - 2;

/** Makes the inner parts of schemas that are nested too deep shared schemas of the manifest. */
export function splitDeepSchemas({ schemas, http_routes: routes }: DraftManifest): void {
  for (const [name, schema] of Object.entries(schemas)) {
    if (isDeeper(schema, MAX_DEPTH)) schemas[name] = split(schema, name, schemas);
  }
  for (const { operation } of routes) {
    for (const key of ['input_schema', 'output_schema'] as const) {
      const schema = operation?.[key];
      if (operation === undefined || schema === undefined || !isDeeper(schema, MAX_DEPTH)) continue;
      operation[key] = split(schema, key, schemas);
    }
  }
}

function split<Schema extends JsonObject | boolean>(
  schema: Schema,
  name: string,
  schemas: SharedDraft,
): Schema {
  const shorten = (part: unknown): unknown => {
    const short = mapParts(part, shorten);
    if (!isDeeper(short, MAX_INNER_DEPTH)) return short;
    const shared = nameFreely(name, schemas);
    schemas[shared] = short as JsonObject;
    return { $ref: formatSharedReference(shared) };
  };
  return mapParts(schema, shorten) as Schema;
}

function mapParts(schema: unknown, map: (part: unknown) => unknown): unknown {
  if (!isObject(schema)) return schema;
  const members = Object.entries(schema).map(([keyword, value]) => {
    return [keyword, mapSchemas(keyword, value, map)];
  });
  return markLost(Object.fromEntries(members), lostOf(schema));
}

function nameFreely(name: string, schemas: SharedDraft): string {
  for (let index = 1; ; index += 1) {
    const candidate = `${name}.${index}`;
    if (!(candidate in schemas)) return candidate;
  }
}
