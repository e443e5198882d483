import type { RoleReport } from '../types.js';
import { Empty, useResource } from '../ui/parts.js';
import { Table } from '../ui/table.js';
import type { TabProps } from './tab-props.js';

type Role = RoleReport['roles'][number];

/**
 * Shows the roles that may call each route, and what each role opens in the module. Empty without a
 * roles file.
 */
export function RolesOf({ module, manifest }: TabProps) {
  const { data } = useResource<RoleReport>('/roles', module.digest);
  if (data === undefined || data.roles.length === 0) return null;
  const scopes = new Map(data.roles.map((role) => [role, collectScopes(role, data.roles)]));
  const listHolders = (scope: string) =>
    data.roles.filter((role) => scopes.get(role)?.has(scope)).map(({ name }) => name);
  const opening = data.scopes.flatMap(({ scope, modules }) =>
    modules
      .filter(({ module: name }) => name === module.name)
      .map(({ opens }) => ({ scope, opens })),
  );
  const roles = data.roles.map((role) => ({
    ...role,
    opened: opening.filter(({ scope }) => scopes.get(role)?.has(scope)),
  }));
  const opened = roles.filter((role) => role.opened.length > 0);
  const routes = manifest.http_routes.filter(({ capability }) => capability !== undefined);
  return (
    <>
      {opened.length === 0 && (
        <Empty title="No role opens this module">
          None of the roles has a capability of its manifest.
        </Empty>
      )}
      {opened.length > 0 && (
        <Table
          caption="Roles by route"
          rows={routes}
          keyOf={({ method, path }) => `${method} ${path}`}
          columns={[
            {
              id: 'route',
              head: 'Route',
              cell: ({ method, path }) => <code>{`${method} ${path}`}</code>,
            },
            {
              id: 'roles',
              head: 'Roles that may call it',
              isText: true,
              cell: ({ capability = '' }) => listHolders(capability).join(', ') || 'none',
            },
          ]}
        />
      )}
      {opened.length > 0 && (
        <Table
          caption="What roles open"
          rows={opened}
          keyOf={({ name }) => name}
          columns={[
            { id: 'role', head: 'Role', cell: ({ name }) => <code>{name}</code> },
            {
              id: 'opens',
              head: 'Opens here',
              isText: true,
              cell: (role) => role.opened.map(describeOpened).join('; '),
            },
            {
              id: 'description',
              head: 'Description',
              isText: true,
              isMinor: true,
              cell: ({ description }) => description,
            },
          ]}
        />
      )}
    </>
  );
}

function describeOpened({ scope, opens }: { scope: string; opens: readonly string[] }): string {
  return `${scope}: ${opens.length === 0 ? 'contributions' : opens.join(', ')}`;
}

/** Collects the scopes of a role, including those of the roles that it names. */
function collectScopes(role: Role, roles: readonly Role[]): ReadonlySet<string> {
  const byName = new Map(roles.map((role) => [role.name, role]));
  const reached = new Set([role]);
  for (const reachedRole of reached) {
    for (const name of reachedRole.roles) {
      const included = byName.get(name);
      if (included !== undefined) reached.add(included);
    }
  }
  return new Set([...reached].flatMap(({ scopes }) => scopes));
}
