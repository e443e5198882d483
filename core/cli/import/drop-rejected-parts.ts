import type { Path, Violation } from '../../document/diagnostic.js';
import { validateExamples } from '../../manifest/example-rules.js';
import { readManifest } from '../../manifest/parse-manifest.js';
import { SCHEMA_KEYS } from '../../manifest/schema-rules.js';
import { CommandError } from '../command-error.js';
import type { JsonObject } from '../json-value.js';
import {
  type DraftManifest,
  type DraftOperation,
  type DraftRoute,
  OPERATION_PLACE,
  type SharedDraft,
} from './draft-manifest.js';
import { fitSchemas } from './fit-schemas.js';
import { loosenManifest } from './loosen-manifest.js';
import { cutReferences, withoutKeyword } from './lost-keywords.js';
import { stripAnnotations } from './schema-keywords.js';
import type { UnmappedParts } from './unmapped.js';

type Rejection = Pick<Violation, 'path' | 'message' | 'rule'>;

/** Each pass removes at least one part, and a validation reports at most 100 problems. */
const MAX_PASSES = 1000;

/** Rules whose rejected keyword can be removed on its own: the schema then accepts more. */
const RULES_OF_A_KEYWORD = new Set([
  'branching-recursion',
  'circular-reference',
  'invalid-schema',
  'unresolved-reference',
  'unsupported-keyword',
  'untranslatable-pattern',
]);

/** The lists of an operation whose items can be removed on their own. */
const LISTS = ['examples', 'parameters'] as const;

/** The schema may fit without its texts. */
const RULE_OF_LENGTH = 'schema-too-large';

/**
 * Validates the manifest like `modgate check`, and removes rejected parts until none is left: a
 * keyword, an example, a schema or a route. Lists each with the reason.
 * @param opened the names of shared schemas that accept more than the document specifies
 * @param kinds of providers, whose adapters validate the members of operations with these names
 */
export function dropRejectedParts(
  manifest: DraftManifest,
  unmapped: UnmappedParts,
  opened: Set<string>,
  kinds: readonly string[],
): void {
  for (let pass = 0; pass < MAX_PASSES; pass += 1) {
    for (const name of fitSchemas(manifest.schemas, unmapped)) opened.add(name);
    loosenManifest(manifest, opened, unmapped);
    const rejected = findRejected(manifest, kinds);
    if (rejected.length === 0) return;
    const doomed = new Set<DraftRoute>();
    for (const diagnostic of rejected) {
      const [list, name, ...place] = diagnostic.path;
      if (list === 'schemas' && typeof name === 'string') {
        dropSharedPart(manifest.schemas, name, place, diagnostic, unmapped);
        opened.add(name);
        continue;
      }
      const route = findRoute(manifest, diagnostic);
      if (doomed.has(route)) continue;
      if (!dropPart(route, diagnostic, unmapped)) {
        unmapped.addOperation(route[OPERATION_PLACE], explain(diagnostic));
        doomed.add(route);
      }
    }
    manifest.http_routes = manifest.http_routes.filter((route) => !doomed.has(route));
    for (const { operation } of manifest.http_routes) removeHoles(operation);
  }
  throw new Error('the imported manifest was still rejected after many passes');
}

/** Examples come last, because only valid schemas are compared with examples. */
function findRejected(manifest: DraftManifest, kinds: readonly string[]): readonly Rejection[] {
  const capabilities = [
    ...new Set(manifest.http_routes.flatMap((diagnostic) => diagnostic.capability ?? [])),
  ];
  const { manifest: valid, errors } = readManifest({ ...manifest, capabilities }, kinds);
  return errors.length > 0 ? errors : validateExamples(valid);
}

/** Removes the rejected part; the schema then accepts any value there. */
function dropSharedPart(
  schemas: SharedDraft,
  name: string,
  path: Path,
  diagnostic: Rejection,
  unmapped: UnmappedParts,
): void {
  const isPart = path.length > 0 && RULES_OF_A_KEYWORD.has(diagnostic.rule);
  if (!isPart && schemas[name] === true) throw createUnimportable(diagnostic);
  const part = isPart ? String(path.at(-1)) : 'the schema';
  unmapped.add(`the schema ${name}`, part, explain(diagnostic));
  const remaining = isPart ? withoutKeyword(schemas[name], path) : true;
  schemas[name] = remaining as JsonObject | boolean;
}

/** No removed part fixes it. */
function createUnimportable({ message }: Rejection): CommandError {
  return new CommandError(`the document cannot be imported: ${message}`);
}

function findRoute(manifest: DraftManifest, diagnostic: Rejection): DraftRoute {
  const [list, index] = diagnostic.path;
  const route = list === 'http_routes' ? manifest.http_routes[Number(index)] : undefined;
  if (route === undefined) throw createUnimportable(diagnostic);
  return route;
}

/** Returns false if the whole route must be removed. */
function dropPart(route: DraftRoute, diagnostic: Rejection, unmapped: UnmappedParts): boolean {
  const [, , member, name, ...rest] = diagnostic.path;
  const { operation } = route;
  if (member === 'operation' && operation !== undefined && typeof name === 'string') {
    return dropOperationPart(operation, name, rest, diagnostic.rule, (part) =>
      unmapped.add(route[OPERATION_PLACE], part, explain(diagnostic)),
    );
  }
  if (typeof member !== 'string' || ['method', 'path', 'capability'].includes(member)) return false;
  unmapped.add(route[OPERATION_PLACE], member, explain(diagnostic));
  delete (route as unknown as Record<string, unknown>)[member];
  return true;
}

function dropOperationPart(
  operation: DraftOperation,
  name: string,
  rest: Path,
  rule: string,
  report: (part: string) => void,
): boolean {
  const [index] = rest;
  const list = LISTS.find((known) => known === name);
  const items = list && operation[list];
  if (items !== undefined && typeof index === 'number') {
    const item = items[index];
    if (item !== undefined) report(`${list === 'examples' ? 'example' : 'parameter'} ${item.name}`);
    // Leaves a hole, so that the indexes of the other rejections stay valid.
    delete items[index];
    return true;
  }
  const key = SCHEMA_KEYS.find((known) => known === name);
  const schema = key && operation[key];
  if (key !== undefined && schema === undefined) return false;
  const weaker = schema && weakenSchema(schema, rest, rule);
  report(weaker ? `${weaker.part} in ${name}` : name);
  if (key !== undefined && weaker) operation[key] = weaker.schema;
  else delete operation[name as keyof DraftOperation];
  return true;
}

function removeHoles(operation: DraftOperation | undefined): void {
  for (const list of LISTS) {
    const items: unknown[] | undefined = operation?.[list];
    if (operation === undefined || items === undefined) continue;
    items.splice(0, items.length, ...items.filter(() => true));
    if (items.length === 0) delete operation[list];
  }
}

/** Returns `undefined` if the whole schema must be removed. */
function weakenSchema(
  schema: JsonObject,
  path: Path,
  rule: string,
): { readonly part: string; readonly schema: JsonObject } | undefined {
  const keyword = path.at(-1);
  if (typeof keyword === 'string' && RULES_OF_A_KEYWORD.has(rule)) {
    return { part: keyword, schema: withoutKeyword(schema, path) as JsonObject };
  }
  const short = rule === RULE_OF_LENGTH ? stripAnnotations(schema) : schema;
  if (JSON.stringify(short) !== JSON.stringify(schema)) return { part: 'texts', schema: short };
  const open = cutReferences(schema, () => true);
  return open === schema ? undefined : { part: 'references', schema: open };
}

/** Removes the index of the route from the message, which is meaningless to the reader. */
function explain({ message }: Rejection): string {
  return message.replace(/^'http_routes\[\d+\]\.(?:operation\.)?/, "'");
}
