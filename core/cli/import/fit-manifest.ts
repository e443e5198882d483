import { MAX_TEXT_LENGTH } from '../../document/parse-document.js';
import { SCHEMA_KEYS } from '../../manifest/schema-rules.js';
import { isObject } from '../json-value.js';
import {
  type DraftManifest,
  type DraftRoute,
  listCapabilities,
  OPERATION_PLACE,
  type SharedDraft,
} from './draft-manifest.js';
import { stripAnnotations } from './schema-keywords.js';
import type { UnmappedParts } from './unmapped.js';

/** Reserves space for the capabilities, which follow from the routes. */
const MAX_LENGTH = MAX_TEXT_LENGTH - 256 * 1024;
/** The limit once the capabilities are known. */
const MAX_WHOLE_LENGTH = MAX_TEXT_LENGTH - 16 * 1024;

const REASON = 'the manifest would be longer than 4 MiB';

/** Parts that are removed from all routes, in this order, until the manifest is short enough. */
const LEFT_OUT: readonly (readonly [part: string, drop: (route: DraftRoute) => void])[] = [
  ['texts and examples of schemas', stripSchemas],
  ['descriptions of operations', (route) => delete route.description],
  ['summaries of operations', (route) => delete route.summary],
  ['tags of operations', (route) => delete route.tags],
  ['parameters that are not checked', ({ operation }) => delete operation?.parameters],
  ['query parameters', ({ operation }) => delete operation?.query_schema],
];

/**
 * Shortens the manifest of a large document: it removes texts, then schemas, the longest first. It
 * removes operations if the paths alone are too long.
 * @param opened the names of schemas that accept more than the document specifies are added
 */
export function fitManifest(
  manifest: DraftManifest,
  unmapped: UnmappedParts,
  opened: Set<string>,
): void {
  const { schemas, http_routes: routes } = manifest;
  let length = lengthOf(manifest);
  if (length <= MAX_LENGTH) return;
  for (const [name, schema] of Object.entries(schemas)) {
    if (isObject(schema)) schemas[name] = stripAnnotations(schema);
  }
  for (const [part, drop] of LEFT_OUT) {
    for (const route of routes) drop(route);
    unmapped.add('the document', part, REASON);
    length = lengthOf(manifest);
    if (length <= MAX_LENGTH) return;
  }
  for (const [name, saved] of listLongest(schemas)) {
    if (length <= MAX_LENGTH) return;
    schemas[name] = true;
    opened.add(name);
    unmapped.add(`the schema ${name}`, 'the schema', REASON);
    length -= saved;
  }
  for (const { operation } of routes) delete operation?.operation_id;
  unmapped.add('the document', 'names of operations', REASON);
  fitRoutes(manifest, unmapped);
}

/** Thousands of routes can be too long even without schemas. */
function fitRoutes(manifest: DraftManifest, unmapped: UnmappedParts): void {
  const measure = () => lengthOf({ ...manifest, capabilities: listCapabilities(manifest) });
  let length = measure();
  if (length <= MAX_WHOLE_LENGTH) return;
  for (const route of manifest.http_routes) dropSchemas(route);
  manifest.schemas = {};
  unmapped.add('the document', 'schemas of operations', REASON);
  length = measure();
  while (length > MAX_WHOLE_LENGTH) {
    const route = manifest.http_routes.pop();
    if (route === undefined) return;
    unmapped.addOperation(route[OPERATION_PLACE], REASON);
    length -= lengthOf(route);
  }
}

function dropSchemas(route: DraftRoute): void {
  const { operation } = route;
  if (operation === undefined) return;
  for (const name of SCHEMA_KEYS) delete operation[name];
  delete operation.parameters;
  if (Object.keys(operation).length === 0) delete route.operation;
}

function stripSchemas({ operation }: DraftRoute): void {
  if (operation === undefined) return;
  for (const name of SCHEMA_KEYS) {
    const schema = operation[name];
    if (schema !== undefined) operation[name] = stripAnnotations(schema);
  }
  delete operation.examples;
}

function listLongest(schemas: SharedDraft): (readonly [string, number])[] {
  return Object.entries(schemas)
    .map(([name, schema]) => [name, lengthOf(schema)] as const)
    .sort((a, b) => b[1] - a[1]);
}

function lengthOf(value: unknown): number {
  return JSON.stringify(value).length;
}
