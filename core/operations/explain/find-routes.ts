import { distance } from 'fastest-levenshtein';
import { MODULE_HTTP_METHODS } from '../../contract/index.js';
import type { RouteMatch } from '../../lib/routing/route-table.js';
import type { LiveRoute, RoutedModule } from '../../modules/live-module.js';
import { toServedMethod } from '../forward/route-call.js';
import type { ParsedTarget } from '../request.js';
import { isBridgePath } from './explained-request.js';

/** Lists all matching routes, the one that handles the request first. */
export function findRoutes(
  module: RoutedModule | null,
  method: string,
  path: ParsedTarget,
): RouteMatch<LiveRoute>[] {
  if (module === null || path.kind !== 'module' || isBridgePath(path)) return [];
  return module.routes.matchAll(toServedMethod(method), path.segments, path.encoded);
}

export function listMethods(module: RoutedModule | null, path: ParsedTarget): string[] {
  return MODULE_HTTP_METHODS.filter((method) => findRoutes(module, method, path).length > 0);
}

const MAX_NEAREST = 3;
const MAX_COMPARED_LENGTH = 200;

/** The routes that are most similar to the request, as `GET /contacts/{id}`. */
export function findNearestRoutes(
  module: RoutedModule | null,
  method: string,
  path: ParsedTarget,
): string[] {
  if (module === null || path.kind !== 'module') return [];
  const { segments } = path;
  const requested = shorten(`${toServedMethod(method)} /${segments.join('/')}`);
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

/** Limits the time to compare long paths. */
function shorten(text: string): string {
  return text.slice(0, MAX_COMPARED_LENGTH);
}
