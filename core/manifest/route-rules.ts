import type { Manifest, ManifestRoute } from '../contract/index.js';
import { describePath, type Violation } from '../document/diagnostic.js';
import { RouteConflict, RouteTable } from '../lib/route-table.js';
import { parseRouteTemplate, type RouteTemplate, TemplateError } from '../lib/route-template.js';

/** The first segment of the paths that belong to the host. */
const BRIDGE_SEGMENT = 'console-bridge';

/** A path that may be printed on a terminal; a longer one would hide the message. */
const PRINTABLE_PATH = /^[\x20-\x7e]{1,200}$/;

/** Literals that other routers treat as parameters, with modgate's notation. */
const FOREIGN_PARAMETERS: readonly [pattern: RegExp, hint: string][] = [
  [/^:\w+$|^<[^>]*>$/, 'write {name} for a parameter'],
  [/^\*+$/, 'write {name} for one segment, or {name...} for all that follow'],
];

/** Templates, conflicts by shape, and the path of the console bridge. */
export function validateRoutes({ http_routes = [] }: Partial<Manifest>): Violation[] {
  const table = new RouteTable<null>();
  return http_routes.flatMap((route, index): Violation[] => {
    const problem = validateRoute(route, table);
    if (problem === null) return validateBodyRule(route, index);
    const path = ['http_routes', index, 'path'];
    const message = PRINTABLE_PATH.test(route.path)
      ? problem.message
      : `${describePath(path)} is not a valid route template, or repeats another`;
    return [{ rule: problem.rule, message, hint: null, path, at: 'value' }];
  });
}

function validateBodyRule(route: ManifestRoute, index: number): Violation[] {
  const rule = route.operation?.body ?? 'none';
  if (route.method !== 'GET' || rule === 'none') return [];
  const message = `${describeRoute(route, index)} must not have a body: that of a GET is ignored`;
  const path = ['http_routes', index, 'operation', 'body'];
  return [{ rule: 'body-of-get', message, hint: 'remove it', path, at: 'key' }];
}

/** Segments such as `:id`, which are valid literals. */
export function findRouteWarnings({ http_routes = [] }: Partial<Manifest>): Violation[] {
  return http_routes.flatMap((route, index): Violation[] => {
    const [hint] = route.path.split('/').flatMap((segment) => hintAtLiteral(segment) ?? []);
    if (hint === undefined) return [];
    const message = `${describeRoute(route, index)} has a literal segment that looks like a parameter`;
    const path = ['http_routes', index, 'path'];
    return [{ rule: 'literal-parameter', message, hint, path, at: 'value' }];
  });
}

function hintAtLiteral(segment: string): string | null {
  return FOREIGN_PARAMETERS.find(([pattern]) => pattern.test(segment))?.[1] ?? null;
}

/** `route 'GET /contacts/{id}'`, or the place of a route that must not be printed. */
export function describeRoute({ method, path }: ManifestRoute, index: number): string {
  if (!PRINTABLE_PATH.test(path)) return describePath(['http_routes', index]);
  return `route '${method} ${path}'`;
}

function validateRoute(route: ManifestRoute, table: RouteTable<null>) {
  const name = `route '${route.method} ${route.path}'`;
  try {
    const template = parseRouteTemplate(route.path);
    if (isBridgeTemplate(template)) {
      const rest = `must not start with /${BRIDGE_SEGMENT}/, which belongs to the host`;
      return { rule: 'bridge-route', message: `${name} ${rest}` };
    }
    table.add({ method: route.method, template, value: null });
    return null;
  } catch (error) {
    if (error instanceof RouteConflict) return { rule: 'route-conflict', message: error.message };
    if (!(error instanceof TemplateError)) throw error;
    return { rule: 'bad-template', message: `${name} ${error.message}` };
  }
}

function isBridgeTemplate({ segments: [first, second] }: RouteTemplate): boolean {
  return first?.kind === 'literal' && first.text === BRIDGE_SEGMENT && second !== undefined;
}
