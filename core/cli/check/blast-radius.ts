import type { Manifest, ManifestRoute } from '../../contract/index.js';
import { parseRouteTemplate, templateShape } from '../../lib/route-template.js';
import type { LocalModule } from './local-modules.js';

/** A route as clients see it. */
export interface RouteFacts {
  readonly method: string;
  readonly path: string;
  readonly capability: string | null;
  /** `null` where the manifest has none. */
  readonly timeout_ms: number | null;
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
}

export interface ManifestChanges<Removed> {
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
    return { module: name, change, detail, ...compareManifests(before, after) };
  };
  if (local === null) return create('removed', EMPTY, 'it has no descriptor');
  if (local.kind === 'disabled') {
    return served === null ? null : create('removed', EMPTY, 'enabled is false');
  }
  if (local.kind === 'unknown') {
    return create(served === null ? 'added' : 'unknown', EMPTY, local.detail);
  }
  if (served === null) return create('added', local.manifest);
  const changes = compareManifests(served.manifest, local.manifest);
  if (hasChanges(changes)) return { module: name, change: 'changed', detail: null, ...changes };
  if (local.configDigest === null || local.configDigest === served.configDigest) return null;
  return create(
    'changed',
    local.manifest,
    'the routes and capabilities are the same, but other settings differ',
  );
}

export function compareManifests(
  before: RoutesAndCapabilities,
  after: RoutesAndCapabilities,
): ManifestChanges<RouteFacts> {
  const beforeRoutes = indexRoutes(before.http_routes);
  const afterRoutes = indexRoutes(after.http_routes);
  const changed: ChangedRoute[] = [];
  for (const [key, route] of afterRoutes) {
    const earlier = beforeRoutes.get(key);
    if (earlier !== undefined && differs(earlier, route)) {
      changed.push({ before: earlier, after: route });
    }
  }
  return {
    capabilities: {
      added: after.capabilities.filter((name) => !before.capabilities.includes(name)),
      removed: before.capabilities.filter((name) => !after.capabilities.includes(name)),
    },
    routes: {
      added: [...afterRoutes].flatMap(([key, route]) => (beforeRoutes.has(key) ? [] : [route])),
      removed: [...beforeRoutes].flatMap(([key, route]) => (afterRoutes.has(key) ? [] : [route])),
      changed,
    },
  };
}

function hasChanges({ capabilities, routes }: ManifestChanges<RouteFacts>): boolean {
  const lists = [...Object.values(capabilities), ...Object.values(routes)];
  return lists.some((list) => list.length > 0);
}

/** By method and shape: renaming a parameter does not change which requests match. */
function indexRoutes(routes: readonly ManifestRoute[]): Map<string, RouteFacts> {
  return new Map(
    routes.map((route) => {
      const shape = templateShape(parseRouteTemplate(route.path));
      return [`${route.method} ${shape}`, describeRoute(route)];
    }),
  );
}

function describeRoute({ method, path, capability, operation }: ManifestRoute): RouteFacts {
  return {
    method,
    path,
    capability: capability ?? null,
    timeout_ms: operation?.timeout_ms ?? null,
  };
}

function differs(a: RouteFacts, b: RouteFacts): boolean {
  return a.path !== b.path || a.capability !== b.capability || a.timeout_ms !== b.timeout_ms;
}
