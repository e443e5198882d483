import { Roles } from '../../auth/roles.js';
import { type ReportedScope, roleReport } from '../../contract/role-report.js';
import { ModuleRegistry } from '../../modules/module-registry.js';
import { defineListing } from '../listing.js';
import { defineResource } from '../resource.js';
import { createRoleReport } from './role-report.js';

/** Lists the roles of the roles file, and what their scopes open. */
export const ROLES = defineResource({
  text: 'the [roles](../operate/fifty-services.md#roles) of the roles file, and what each scope opens in each module',
  listing: defineListing({
    struct: roleReport,
    rows: 'roles',
    title: 'Roles',
    empty: 'no roles',
    columns: {
      name: { title: 'Role' },
      roles: { title: 'Includes', as: 'names', isSparse: true },
      description: { title: 'Description', as: 'sentence', isSparse: true },
    },
    linesOf: (role, { scopes }) => {
      const width = Math.max(0, ...role.scopes.map((scope) => scope.length));
      const reported = new Map(scopes.map((entry) => [entry.scope, entry]));
      return role.scopes
        .flatMap((scope) => reported.get(scope) ?? [])
        .map((entry) => `  ${entry.scope.padEnd(width)}  ${describeScope(entry)}`);
    },
  }),
  needs: [ModuleRegistry, Roles],
  answer: (_call, registry, { table }) => {
    const modules = registry
      .list()
      .filter(({ state }) => state !== 'disabled')
      .map(({ name, live }) => ({ name, manifest: live?.manifest ?? null }));
    return createRoleReport(table, modules);
  },
});

/** `crm: GET /items, entity contacts` */
export function describeScope({ declared, modules }: ReportedScope): string {
  if (modules.length > 0) {
    return modules
      .map(({ module, opens }) => `${module}: ${opens.join(', ') || 'contributions'}`)
      .join('; ');
  }
  if (declared === true) return 'rights of the host';
  if (declared === false) return 'nothing: no module declares it';
  return 'unknown: the manifest of a module is not known';
}
