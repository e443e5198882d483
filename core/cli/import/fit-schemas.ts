import { SCHEMA_KEYS } from '../../manifest/schema-rules.js';
import { SchemaRules } from '../../schema/schema-rules.js';
import { isObject, type JsonObject } from '../json-value.js';
import type { DraftManifest, SharedDraft } from './draft-manifest.js';
import { listSharedNames } from './loosen-manifest.js';
import { cutReferences } from './lost-keywords.js';
import { stripAnnotations } from './schema-keywords.js';
import type { UnmappedParts } from './unmapped.js';

const CUT_REASON =
  'together they exceed the bounds of a schema: any value is accepted where they refer to one another';
const LOST_REASON = 'it exceeds the bounds of a schema: any value is accepted';

type Step = (schema: JsonObject | boolean, exceeds: (name: string) => boolean) => unknown;

/** The steps for shared schemas that exceed a bound, in order. */
const STEPS: readonly Step[] = [
  (schema, exceeds) => cutReferences(schema, exceeds),
  (schema) => (isObject(schema) ? stripAnnotations(schema) : schema),
  (schema) => cutReferences(schema, () => true),
  () => true,
];

/**
 * Opens shared schemas that exceed a bound together with referenced schemas: they keep their own
 * members, and accept any value in place of references to others that exceed it.
 * @returns the names of schemas that accept more than the document specifies
 */
export function fitSchemas(schemas: SharedDraft, unmapped: UnmappedParts): Set<string> {
  const opened = new Set<string>();
  for (const [index, step] of STEPS.entries()) {
    const rules = new SchemaRules(schemas);
    const exceeding = new Set(Object.keys(schemas).filter((name) => rules.exceeds(name)));
    if (exceeding.size === 0) break;
    for (const name of exceeding) {
      const schema = step(schemas[name] ?? true, (other) => exceeding.has(other));
      if (schema === schemas[name]) continue;
      schemas[name] = schema as JsonObject | boolean;
      if (index !== 1) opened.add(name);
      unmapped.add(`the schema ${name}`, 'references', schema === true ? LOST_REASON : CUT_REASON);
    }
  }
  return opened;
}

/** Removes shared schemas that no route reaches. */
export function dropUnused(manifest: DraftManifest): void {
  const { schemas } = manifest;
  const used = new Set(
    manifest.http_routes.flatMap(({ operation }) =>
      [...SCHEMA_KEYS, 'parameters' as const].flatMap((name) => listSharedNames(operation?.[name])),
    ),
  );
  // The set grows during the loop.
  for (const name of used) for (const other of listSharedNames(schemas[name])) used.add(other);
  for (const name of Object.keys(schemas)) if (!used.has(name)) delete schemas[name];
}
