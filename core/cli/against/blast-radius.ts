import type { BodyRule, Manifest, ManifestRoute, RouteOperation } from '../../contract/index.js';
import { parseRouteTemplate, templateShape } from '../../lib/route-template.js';
import { bodyRuleOf, defaultBodyRule } from '../../manifest/body-rule.js';
import type { LocalModule, ResponseFacts } from './local-modules.js';
import { listSchemaChanges, type SchemaChange } from './schema-changes.js';

/** A route as clients see it. */
export interface RouteFacts {
  readonly method: string;
  readonly path: string;
  readonly capability: string | null;
  /** `null` where the manifest has none. */
  readonly timeout_ms: number | null;
  /** Absent for that of the method. */
  readonly body?: BodyRule;
}

export interface RemovedRoute extends RouteFacts {
  /** `null` when it is unknown. */
  readonly calls_last_hour: number | null;
  /** Why the number is missing or not exact. */
  readonly calls_note: string | null;
}

export interface ChangedRoute {
  readonly before: RouteFacts;
  readonly after: RouteFacts;
  /** Absent where no schema has changed. */
  readonly schemas?: readonly SchemaChange[];
}

interface ManifestChanges<Removed> {
  readonly capabilities: { readonly added: readonly string[]; readonly removed: readonly string[] };
  readonly routes: {
    readonly added: readonly RouteFacts[];
    readonly removed: readonly Removed[];
    readonly changed: readonly ChangedRoute[];
  };
}

/**
 * - `changed`: the manifest or the descriptor differs
 * - `unknown`: the file is invalid, or its manifest is not available offline
 */
export type ChangeKind = 'added' | 'removed' | 'changed' | 'unknown';

export interface ModuleChange<Removed = RemovedRoute> extends ManifestChanges<Removed> {
  readonly module: string;
  readonly change: ChangeKind;
  readonly detail: string | null;
  /** Absent if clients get the same of each response. */
  readonly responses?: { readonly before: ResponseFacts; readonly after: ResponseFacts };
}

/** The changes in a host if it had the checked files. */
export interface BlastRadius {
  readonly url: string;
  readonly modules: readonly ModuleChange[];
  readonly unchanged: readonly string[];
}

/** A module that the host serves. */
export interface ServedModule {
  readonly name: string;
  /** The file of its descriptor; `null` when it is unknown. */
  readonly file: string | null;
  readonly configDigest: string | null;
  readonly manifest: Pick<Manifest, 'module_id' | 'capabilities' | 'http_routes'>;
  readonly responses: ResponseFacts;
}

type RoutesAndCapabilities = Pick<Manifest, 'capabilities' | 'http_routes'>;

const EMPTY: RoutesAndCapabilities = { capabilities: [], http_routes: [] };

/** Compares one module. `null` if it does not change. */
export function compareModule(
  name: string,
  local: LocalModule | null,
  served: ServedModule | null,
): ModuleChange<RouteFacts> | null {
  const create = (
    change: ChangeKind,
    after: RoutesAndCapabilities,
    detail: string | null = null,
  ): ModuleChange<RouteFacts> => {
    const before = change === 'unknown' ? after : (served?.manifest ?? EMPTY);
    return { module: name, change, detail, ...compareRoutesAndCapabilities(before, after) };
  };
  if (local === null) return create('removed', EMPTY, 'it has no descriptor');
  if (local.kind === 'disabled') {
    return served === null ? null : create('removed', EMPTY, 'enabled is false');
  }
  if (local.kind === 'unknown') {
    return create(served === null ? 'added' : 'unknown', EMPTY, local.detail);
  }
  if (served === null) return create('added', local.manifest);
  const changes = compareRoutesAndCapabilities(served.manifest, local.manifest);
  const responses = compareResponses(served.responses, local.responses);
  if (responses !== null || hasChanges(changes)) {
    const more = responses === null ? {} : { responses };
    return { module: name, change: 'changed', detail: null, ...changes, ...more };
  }
  if (local.configDigest === null || local.configDigest === served.configDigest) return null;
  return create(
    'changed',
    local.manifest,
    'the routes and capabilities are the same, but other settings differ',
  );
}

function compareRoutesAndCapabilities(
  before: RoutesAndCapabilities,
  after: RoutesAndCapabilities,
): ManifestChanges<RouteFacts> {
  const beforeRoutes = indexRoutes(before.http_routes);
  const afterRoutes = indexRoutes(after.http_routes);
  const changed: ChangedRoute[] = [];
  for (const [key, route] of afterRoutes) {
    const earlier = beforeRoutes.get(key);
    if (earlier === undefined) continue;
    const schemas = listSchemaChanges(earlier.operation, route.operation);
    if (schemas.length === 0 && !differs(earlier.facts, route.facts)) continue;
    const change = { before: earlier.facts, after: route.facts };
    changed.push(schemas.length === 0 ? change : { ...change, schemas });
  }
  return {
    capabilities: {
      added: after.capabilities.filter((name) => !before.capabilities.includes(name)),
      removed: before.capabilities.filter((name) => !after.capabilities.includes(name)),
    },
    routes: {
      added: listOthers(afterRoutes, beforeRoutes),
      removed: listOthers(beforeRoutes, afterRoutes),
      changed,
    },
  };
}

function compareResponses(before: ResponseFacts, after: ResponseFacts | null) {
  if (after === null) return null;

  const sort = ({ expose_headers }: ResponseFacts) => expose_headers.toSorted().join();
  const isSame = before.mode === after.mode && sort(before) === sort(after);
  return isSame ? null : { before, after };
}

function hasChanges({ capabilities, routes }: ManifestChanges<RouteFacts>): boolean {
  const lists = [...Object.values(capabilities), ...Object.values(routes)];
  return lists.some((list) => list.length > 0);
}

interface IndexedRoute {
  readonly facts: RouteFacts;
  readonly operation: RouteOperation | undefined;
}

type RouteIndex = ReadonlyMap<string, IndexedRoute>;

/** By method and shape: renaming a parameter does not change which requests match. */
function indexRoutes(routes: readonly ManifestRoute[]): RouteIndex {
  return new Map(
    routes.map((route) => {
      const shape = templateShape(parseRouteTemplate(route.path));
      const { operation } = route;
      return [`${route.method} ${shape}`, { facts: describeRoute(route), operation }];
    }),
  );
}

function listOthers(routes: RouteIndex, known: RouteIndex): RouteFacts[] {
  return [...routes].flatMap(([key, { facts }]) => (known.has(key) ? [] : [facts]));
}

function describeRoute(route: ManifestRoute): RouteFacts {
  const { method, path, capability, operation } = route;
  const body = bodyRuleOf(route);
  return {
    method,
    path,
    capability: capability ?? null,
    timeout_ms: operation?.timeout_ms ?? null,
    ...(body !== defaultBodyRule(route) && { body }),
  };
}

function differs(a: RouteFacts, b: RouteFacts): boolean {
  const facts = ['path', 'capability', 'timeout_ms', 'body'] as const;
  return facts.some((fact) => a[fact] !== b[fact]);
}
