import { distance } from 'fastest-levenshtein';
import { MODULE_HTTP_METHODS } from '../../contract/index.js';
import type { RouteMatch } from '../../lib/route-table.js';
import type { LiveRoute } from '../../modules/live-module.js';
import { type ExplainedModule, type ExplainedPath, isBridgePath } from './explained-request.js';

/** Every route that matches, the one that answers first. */
export function findRoutes(
  module: ExplainedModule | null,
  method: string,
  path: ExplainedPath,
): RouteMatch<LiveRoute>[] {
  if (module === null || path.kind !== 'module' || isBridgePath(path)) return [];
  // The GET route serves HEAD.
  return module.routes.matchAll(method === 'HEAD' ? 'GET' : method, path.segments);
}

/** The methods with a route for the path. */
export function listMethods(module: ExplainedModule | null, path: ExplainedPath): string[] {
  return MODULE_HTTP_METHODS.filter((method) => findRoutes(module, method, path).length > 0);
}

const MAX_NEAREST = 3;
const MAX_COMPARED_LENGTH = 200;

/** The routes that are most similar to the request, as `GET /contacts/{id}`. */
export function findNearestRoutes(
  module: ExplainedModule,
  method: string,
  path: ExplainedPath,
): string[] {
  if (path.kind !== 'module') return [];
  const { segments } = path;
  const requested = shorten(`${method === 'HEAD' ? 'GET' : method} /${segments.join('/')}`);
  return module.manifest.http_routes
    .map((route) => ({
      name: `${route.method} ${route.path}`,
      distance: distance(shorten(`${route.method} ${fillIn(route.path, segments)}`), requested),
    }))
    .toSorted((a, b) => a.distance - b.distance)
    .slice(0, MAX_NEAREST)
    .map(({ name }) => name);
}

/** Replaces each parameter by the segments that it would match. */
function fillIn(template: string, segments: readonly string[]): string {
  const parts = template.slice(1).split('/');
  const filled = parts.map((part, index) => {
    if (!part.startsWith('{')) return part;
    const end = part.endsWith('...}') ? segments.length : index + 1;
    return segments.slice(index, end).join('/') || part;
  });
  return `/${filled.join('/')}`;
}

/** Bounds the time to compare long paths. */
function shorten(text: string): string {
  return text.slice(0, MAX_COMPARED_LENGTH);
}
