import { isDeepStrictEqual } from 'node:util';
import type { ManifestRoute } from '../../contract/index.js';
import { formatPointer } from '../../lib/json/json-pointer.js';
import { parseRouteTemplate, templateShape } from '../../lib/routing/route-template.js';
import { nameRoute } from '../../manifest/stream-rules.js';
import { asList, asObject, isObject, type JsonObject } from '../json-value.js';

/** A difference between the manifest in the folder and that of the document. */
export interface ManifestChange {
  readonly change: 'added' | 'removed' | 'changed';
  /** A route, such as `GET /pets`, a shared schema, or a member of the manifest. */
  readonly place: string;
  /** JSON Pointer below the place; absent for the route as a whole. */
  readonly pointer?: string;
  /** Whether it changes more than documentation texts. */
  readonly affectsClients: boolean;
}

/** Members that clients do not depend on. */
const TEXTS = new Set([
  '$comment',
  'description',
  'example',
  'examples',
  'summary',
  'tags',
  'title',
  'version',
]);

/** Keywords whose members are names chosen by the document. */
const NAMED = new Set([
  ...['properties', '$defs', 'patternProperties', 'dependentSchemas', 'dependentRequired'],
]);

/** Members with a list of schemas or parameters, which have texts. */
const LISTS = new Set(['allOf', 'anyOf', 'oneOf', 'prefixItems', 'parameters']);

/** Keywords with a value of callers: the names of its members are not keywords. */
const VALUES = new Set(['const', 'default', 'enum']);

/** A route or schema with more changes is reported as changed in many places. */
const MAX_CHANGES_OF_PLACE = 20;

export function compareManifests(before: JsonObject, after: JsonObject): ManifestChange[] {
  const { http_routes: beforeList, schemas: beforeSchemas, ...beforeRest } = before;
  const { http_routes: afterList, schemas: afterSchemas, ...afterRest } = after;
  const beforeRoutes = indexRoutes(beforeList);
  const afterRoutes = indexRoutes(afterList);
  const changes = compareValues(beforeRest, afterRest).map(
    ({ pointer = '', ...change }): ManifestChange => ({ ...change, place: pointer.slice(1) }),
  );
  for (const [shape, route] of afterRoutes) {
    const earlier = beforeRoutes.get(shape);
    if (earlier === undefined) changes.push(wholeRoute('added', route));
    else changes.push(...compareRoutes(earlier, route));
  }
  for (const [shape, route] of beforeRoutes) {
    if (!afterRoutes.has(shape)) changes.push(wholeRoute('removed', route));
  }
  return [...changes, ...compareShared(asObject(beforeSchemas), asObject(afterSchemas))];
}

function compareShared(before: JsonObject, after: JsonObject): ManifestChange[] {
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...names].flatMap((name) => {
    const changes = compareValues(readOwn(before, name), readOwn(after, name));
    return shorten(changes.map((change) => ({ ...change, place: `the schema ${name}` })));
  });
}

function wholeRoute(change: 'added' | 'removed', route: JsonObject): ManifestChange {
  return { change, place: placeOf(route), affectsClients: true };
}

function compareRoutes(before: JsonObject, after: JsonObject): ManifestChange[] {
  const place = placeOf(after);
  return shorten(compareValues(before, after).map((change) => ({ ...change, place })));
}

/** @param all the changes of one place */
function shorten(all: ManifestChange[]): ManifestChange[] {
  const [first] = all;
  if (first === undefined || all.length <= MAX_CHANGES_OF_PLACE) return all;
  const affectsClients = all.some((change) => change.affectsClients);
  return [{ change: 'changed', place: first.place, pointer: '', affectsClients }];
}

/**
 * Indexes by method and shape, so that a renamed parameter is a change of the same route. A
 * WebSocket may stand beside another route of its shape.
 */
function indexRoutes(routes: unknown): Map<string, JsonObject> {
  return new Map(
    asList(routes)
      .filter(isObject)
      .map((route) => [shapeOf(route), route]),
  );
}

function shapeOf(route: JsonObject): string {
  try {
    const path = templateShape(parseRouteTemplate(String(route['path'])));
    return placeOf({ ...route, path });
  } catch {
    return placeOf(route);
  }
}

function placeOf(route: JsonObject): string {
  return nameRoute(route as unknown as ManifestRoute);
}

function compareValues(before: unknown, after: unknown): ManifestChange[] {
  const changes: ManifestChange[] = [];
  const root = { pointer: '', isNamed: false, isList: false, isText: false, isValue: false };
  collect(before, after, root, changes);
  return changes;
}

interface Position {
  readonly pointer: string;
  /** Whether the members of this value are names, not keywords. */
  readonly isNamed: boolean;
  readonly isList: boolean;
  readonly isText: boolean;
  readonly isValue: boolean;
}

function collect(
  before: unknown,
  after: unknown,
  position: Position,
  changes: ManifestChange[],
): void {
  if (isDeepStrictEqual(before, after)) return;
  const [one, other] = [readMembers(before, position), readMembers(after, position)];
  if (one === null || other === null) {
    const change = before === undefined ? 'added' : after === undefined ? 'removed' : 'changed';
    const affectsClients = !position.isText;
    changes.push({ change, place: '', pointer: position.pointer, affectsClients });
    return;
  }
  for (const name of new Set([...Object.keys(one), ...Object.keys(other)])) {
    collect(readOwn(one, name), readOwn(other, name), enter(position, name), changes);
  }
}

/** The members of a mapping, or the items of a list by their index; `null` to compare it as a whole. */
function readMembers(value: unknown, { isList, isValue }: Position): JsonObject | null {
  if (isValue) return null;
  if (isList && Array.isArray(value)) return { ...value };
  return isObject(value) ? value : null;
}

function enter({ pointer, isNamed, isText }: Position, name: string): Position {
  return {
    pointer: pointer + formatPointer([name]),
    isNamed: !isNamed && NAMED.has(name),
    isList: !isNamed && LISTS.has(name),
    isText: isText || (!isNamed && TEXTS.has(name)),
    isValue: !isNamed && VALUES.has(name),
  };
}

function readOwn(value: JsonObject, name: string): unknown {
  return Object.hasOwn(value, name) ? asObject(value)[name] : undefined;
}
