import { MODULE_HTTP_METHODS } from '../../contract/index.js';
import type { RouteMatch } from '../../lib/route-table.js';
import type { LiveRoute } from '../../modules/live-module.js';
import { type ExplainedModule, type ExplainedPath, isBridgePath } from './explained-request.js';

/** Every route that matches, the winner first. */
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
