import { SCHEMA_KEYS } from '../../manifest/schema-rules.js';
import { readSharedName } from '../../schema/shared-schemas.js';
import type { JsonObject } from '../json-value.js';
import { type DraftManifest, OPERATION_PLACE, type SharedDraft } from './draft-manifest.js';
import { isOpen, loosenSchema } from './loosen-schema.js';
import { hasLost } from './lost-keywords.js';
import type { UnmappedParts } from './unmapped.js';

const REASON = 'without what is left out, it would reject more than in the document';

/**
 * Weakens the schemas from which parts were left out, and those that refer to them, so that they
 * accept what the document accepts. Lists each weakened keyword.
 * @param opened the names of shared schemas that accept more than the document specifies; those
 * that have lost a keyword are added
 */
export function loosenManifest(
  { schemas, http_routes: routes }: DraftManifest,
  opened: Set<string>,
  unmapped: UnmappedParts,
): void {
  for (const [name, schema] of Object.entries(schemas)) {
    if (hasLost(schema)) opened.add(name);
  }
  const wider = findReferring(schemas, opened);
  const loosen = (schema: unknown, place: string) =>
    loosenSchema(schema, {
      isWider: (name) => wider.has(name),
      onWeakened: (keyword) => unmapped.add(place, `keyword ${keyword}`, REASON),
    });
  for (const name of wider) {
    const { schema } = loosen(schemas[name], `the schema ${name}`);
    schemas[name] = schema as JsonObject | boolean;
  }
  for (const { [OPERATION_PLACE]: place, operation } of routes) {
    for (const name of SCHEMA_KEYS) {
      const { schema, isWider } = loosen(operation?.[name], place);
      if (operation === undefined || !isWider) continue;
      if (isOpen(schema)) delete operation[name];
      else operation[name] = schema as JsonObject;
    }
  }
}

function findReferring(schemas: SharedDraft, opened: ReadonlySet<string>): Set<string> {
  const referring = new Map<string, string[]>();
  for (const [name, schema] of Object.entries(schemas)) {
    for (const other of listSharedNames(schema)) {
      referring.set(other, [...(referring.get(other) ?? []), name]);
    }
  }
  const widerNames = new Set(opened);
  // The set grows during the loop.
  for (const name of widerNames)
    for (const other of referring.get(name) ?? []) widerNames.add(other);
  return widerNames;
}

export function listSharedNames(schema: unknown): string[] {
  const names = new Set<string>();
  const open = [schema];
  for (let value = open.pop(); value !== undefined; value = open.pop()) {
    if (typeof value !== 'object' || value === null) continue;
    const name = readSharedName((value as JsonObject)['$ref']);
    if (name !== null) names.add(name);
    for (const member of Object.values(value)) {
      if (typeof member === 'object' && member !== null) open.push(member);
    }
  }
  return [...names];
}
