import type { RouteTable } from '../lib/routing/route-table.js';
import type { LiveRoute } from '../modules/live-module.js';
import { toServedMethod } from './forward/route-call.js';
import type { ModuleTarget } from './request.js';

/** The route that a request would match with another end of its path: `there is a route with a final slash: …`. */
export function findNearMiss(
  routes: RouteTable<LiveRoute>,
  method: string,
  { segments, encoded }: ModuleTarget,
): string | null {
  const hasFinalSlash = segments.at(-1) === '';
  const others = hasFinalSlash ? segments.slice(0, -1) : [...segments, ''];
  const match = routes.match(toServedMethod(method), others, encoded);
  if (match === null) return null;
  const end = hasFinalSlash ? 'without the final slash' : 'with a final slash';
  return `there is a route ${end}: ${match.value.name}`;
}
