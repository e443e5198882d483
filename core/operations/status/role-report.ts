import type { Role, RoleTable } from '../../auth/role-table.js';
import type { Manifest } from '../../contract/index.js';
import type { RoleReport } from '../../contract/role-report.js';
import { listPermittedParts } from '../../manifest/list-opened.js';

/** The scopes of the host and of its console, which no module declares. */
const HOST_SCOPE = /^modgate\.|^console\.admin$/;

/** A module that is enabled. */
export interface ReportedModule {
  /** `null` for a descriptor that cannot be read. */
  readonly name: string | null;
  /** `null` if it is unknown. */
  readonly manifest: Manifest | null;
}

/** Creates a report of the routes and entities that the roles of the file open in these modules. */
export function createRoleReport(table: RoleTable, modules: readonly ReportedModule[]): RoleReport {
  const roles = table.list();
  const declaring = indexByCapability(modules);
  const unknown = modules.some(({ manifest }) => manifest === null) ? null : false;
  const scopes = [...new Set(roles.flatMap(({ ownScopes }) => ownScopes))].map((scope) => {
    const declaringModules = declaring.get(scope) ?? [];
    const isKnown = declaringModules.length > 0 || HOST_SCOPE.test(scope);
    return {
      scope,
      declared: isKnown ? true : unknown,
      modules: declaringModules.map(reportModule),
    };

    function reportModule({ name, manifest }: KnownModule) {
      return {
        module: name,
        opens: listRoutes(scope, manifest).concat(listPermittedParts(scope, manifest)),
      };
    }
  });
  return {
    roles: roles.map(reportRole),
    scopes,
    not_declared: scopes.filter(({ declared }) => declared === false).map(({ scope }) => scope),
  };
}

interface KnownModule {
  readonly name: string;
  readonly manifest: Manifest;
}

function indexByCapability(modules: readonly ReportedModule[]): ReadonlyMap<string, KnownModule[]> {
  const index = new Map<string, KnownModule[]>();
  for (const { name, manifest } of modules) {
    if (name === null || manifest === null) continue;
    for (const capability of new Set(manifest.capabilities)) {
      const declaring = index.get(capability) ?? [];
      index.set(capability, [...declaring, { name, manifest }]);
    }
  }
  return index;
}

function reportRole({ name, description, ownScopes, roles }: Role): RoleReport['roles'][number] {
  return { name, description, scopes: [...new Set(ownScopes)], roles: [...new Set(roles)] };
}

function listRoutes(scope: string, { http_routes: routes }: Manifest): string[] {
  return routes
    .filter(({ capability }) => capability === scope)
    .map(({ method, path }) => `${method} ${path}`);
}
