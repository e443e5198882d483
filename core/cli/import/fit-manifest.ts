import { MAX_TEXT_LENGTH } from '../../document/parse-document.js';
import type { JsonObject } from '../json-value.js';
import { type DraftManifest, type DraftRoute, placeOf } from './draft-manifest.js';
import { stripAnnotations } from './strip-annotations.js';
import type { UnmappedParts } from './unmapped.js';

/** Leaves room for the capabilities, which follow from the routes. */
const MAX_LENGTH = MAX_TEXT_LENGTH - 256 * 1024;

const REASON = 'the manifest would be longer than 4 MiB';

/**
 * Makes the manifest of a large document short enough for a file: first without the texts in schemas, then
 * without examples, then without the longest schemas of responses.
 */
export function fitManifest(manifest: DraftManifest, unmapped: UnmappedParts): void {
  if (lengthOf(manifest) <= MAX_LENGTH) return;
  for (const route of manifest.http_routes) stripRoute(route, unmapped);
  let length = lengthOf(manifest);
  const longest = manifest.http_routes
    .filter(({ operation }) => operation?.output_schema !== undefined)
    .map((route) => ({ route, length: lengthOf(route.operation?.output_schema) }))
    .sort((a, b) => b.length - a.length);
  for (const { route, length: saved } of longest) {
    if (length <= MAX_LENGTH) return;
    delete route.operation?.output_schema;
    unmapped.add(placeOf(route), 'output_schema', REASON);
    length -= saved;
  }
}

function stripRoute(route: DraftRoute, unmapped: UnmappedParts): void {
  const { operation } = route;
  if (operation === undefined) return;
  for (const name of ['input_schema', 'output_schema'] as const) {
    const schema: JsonObject | undefined = operation[name];
    if (schema !== undefined) operation[name] = stripAnnotations(schema);
  }
  delete operation.examples;
  unmapped.add(placeOf(route), 'texts and examples of schemas', REASON);
}

function lengthOf(value: unknown): number {
  return JSON.stringify(value).length;
}
