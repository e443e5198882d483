import type { Manifest, ManifestRoute } from '../contract/index.js';
import type { Fault } from '../document/diagnostic.js';
import { describePath } from '../document/diagnostic.js';
import { RouteConflict, RouteTable } from '../lib/route-table.js';
import type { RouteTemplate } from '../lib/route-template.js';
import { parseRouteTemplate, TemplateError } from '../lib/route-template.js';

/** The first segment of what always belongs to the host (contract 4). */
const BRIDGE_SEGMENT = 'console-bridge';

/** What may be shown as it is, on a terminal too; a longer route would bury the message. */
const PRINTABLE_PATH = /^[\x20-\x7e]{1,200}$/;

/** Templates, conflicts by shape, and the path of the console bridge (contract 1.3 and 4). */
export function judgeRoutes(manifest: Manifest): Fault[] {
  const table = new RouteTable<null>();
  return manifest.http_routes.flatMap((route, index): Fault[] => {
    const problem = judgeRoute(route, table);
    if (problem === null) return [];
    const path = ['http_routes', index, 'path'];
    const message = PRINTABLE_PATH.test(route.path)
      ? problem.message
      : `${describePath(path)} is not a valid route template, or repeats another`;
    return [{ rule: problem.rule, message, hint: null, path, at: 'value' }];
  });
}

/** `route 'GET /contacts/{id}'`, or the route's place for one that must not be printed. */
export function describeRoute({ method, path }: ManifestRoute, index: number): string {
  if (!PRINTABLE_PATH.test(path)) return describePath(['http_routes', index]);
  return `route '${method} ${path}'`;
}

function judgeRoute(route: ManifestRoute, table: RouteTable<null>) {
  const name = `route '${route.method} ${route.path}'`;
  try {
    const template = parseRouteTemplate(route.path);
    if (isBridgeTemplate(template)) {
      const rest = `must not lie under /${BRIDGE_SEGMENT}/, which is the host's own`;
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
