import type { Manifest, ManifestRoute } from '../contract/index.js';
import { describePath, type Path, type Violation } from '../document/diagnostic.js';
import { RouteConflict, RouteTable } from '../lib/route-table.js';
import { parseRouteTemplate, type RouteTemplate, TemplateError } from '../lib/route-template.js';
import { findDuplicates, violationAt } from './config-rules.js';

/** The first segment of what always belongs to the host (contract 4). */
const BRIDGE_SEGMENT = 'console-bridge';

/** What may be shown as it is, on a terminal too; a longer route would bury the message. */
const PRINTABLE_PATH = /^[\x20-\x7e]{1,200}$/;

/** Templates, conflicts by shape, and the path of the console bridge (contract 1.3 and 4). */
export function validateRoutes(manifest: Manifest): Violation[] {
  const table = new RouteTable<null>();
  return manifest.http_routes.flatMap((route, index): Violation[] => {
    const problem = validateRoute(route, table);
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

function validateRoute(route: ManifestRoute, table: RouteTable<null>) {
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

/** Names within the admin data, slots and contributions (contract 5). */
export function validateAdmin(manifest: Manifest): Violation[] {
  const { entities = [], actions = [] } = manifest.admin ?? {};
  const entityPath = ['admin', 'entities'];
  const actionPath = ['admin', 'actions'];
  return [
    ...findDuplicates(entities, entityPath, nameOf, 'name'),
    ...findDuplicates(actions, actionPath, nameOf, 'name'),
    ...entities.flatMap(({ fields = [] }, index) =>
      findDuplicates(fields, [...entityPath, index, 'fields'], nameOf, 'name'),
    ),
    ...actions.flatMap(({ input_schema }, index) => {
      const path = [...actionPath, index, 'input_schema', 'fields'];
      return findDuplicates(input_schema?.fields ?? [], path, nameOf, 'name');
    }),
    ...findDuplicates(manifest.console_slots ?? [], ['console_slots'], ({ id }) => id, 'id'),
    ...validateContributions(manifest),
  ];
}

/** Whether an action of another module exists is known only once all modules are. */
function validateContributions(manifest: Manifest): Violation[] {
  const actions = new Set(manifest.admin?.actions?.map(nameOf));
  return (manifest.console_contributions ?? []).flatMap(({ action }, index): Violation[] => {
    if (action.module !== manifest.module_id || actions.has(action.name)) return [];
    const path = ['console_contributions', index, 'action', 'name'];
    return [violationAt(path, 'unknown-action', 'names an action that this module does not have')];
  });
}

function nameOf({ name }: { readonly name: string }): string {
  return name;
}

interface CapabilityUse {
  readonly capability: string;
  readonly path: Path;
}

/** What routes, entities and actions name must be declared (contract 5). */
export function validateCapabilities(manifest: Manifest): Violation[] {
  const declared = new Set(manifest.capabilities);
  const unlisted = listUses(manifest).filter(({ capability }) => !declared.has(capability));
  return [
    ...findDuplicates(manifest.capabilities, ['capabilities'], String, ''),
    ...unlisted.map(({ path }) =>
      violationAt(
        path,
        'unlisted-capability',
        "names a capability that 'capabilities' does not list",
      ),
    ),
  ];
}

export function findCapabilityWarnings(manifest: Manifest): Violation[] {
  const open = manifest.http_routes.flatMap((route, index): Violation[] => {
    if (route.capability !== undefined) return [];
    const message = `${describeRoute(route, index)} has no capability, so it answers 403 to everybody`;
    const hint = "add a 'capability'";
    return [
      {
        rule: 'route-without-capability',
        message,
        hint,
        path: ['http_routes', index],
        at: 'value',
      },
    ];
  });
  return [...open, ...findUnused(manifest)];
}

/**
 * Any capability of a module with config fields or slots may serve as the permission of its console
 * (contract 4), so there none counts as unused.
 */
function findUnused(manifest: Manifest): Violation[] {
  const hasConsole = manifest.config?.fields?.length || manifest.console_slots?.length;
  if (hasConsole) return [];
  const used = new Set(listUses(manifest).map(({ capability }) => capability));
  for (const contribution of manifest.console_contributions ?? []) {
    for (const capability of contribution.required_capabilities ?? []) used.add(capability);
  }
  return manifest.capabilities.flatMap((capability, index): Violation[] => {
    if (used.has(capability)) return [];
    const path = ['capabilities', index];
    return [
      violationAt(path, 'unused-capability', 'is used by no route, entity, action or contribution'),
    ];
  });
}

function listUses(manifest: Manifest): CapabilityUse[] {
  const { entities = [], actions = [] } = manifest.admin ?? {};
  return [
    ...manifest.http_routes.flatMap(({ capability }, index) =>
      capability === undefined ? [] : [{ capability, path: ['http_routes', index, 'capability'] }],
    ),
    ...entities.map(({ read_capability }, index) => ({
      capability: read_capability,
      path: ['admin', 'entities', index, 'read_capability'],
    })),
    ...actions.map(({ capability }, index) => ({
      capability,
      path: ['admin', 'actions', index, 'capability'],
    })),
  ];
}
