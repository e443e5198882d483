import { session } from '../api.js';
import type { Manifest, ModuleStatus } from '../types.js';
import { Card, formatCount, State } from '../ui/parts.js';
import { Table } from '../ui/table.js';
import { RolesOf } from './roles.js';
import type { TabProps } from './tab-props.js';

/**
 * Shows the permissions of the manifest, which of them are granted, and the lines that grant the
 * rest.
 */
export function GrantsTab({ module, manifest }: TabProps) {
  const granted = module.console?.grants ?? [];
  const rows = [...new Set([...manifest.capabilities, ...granted])].map((permission) => ({
    permission,
    isDeclared: manifest.capabilities.includes(permission),
    isGranted: granted.includes(permission),
    opens: listOpened(manifest, permission),
  }));
  const missing = rows.filter(({ isDeclared, isGranted }) => isDeclared && !isGranted);
  const isForConsole = isGrantedHere(module);
  const open = manifest.http_routes.filter(({ access }) => module.public && access === 'public');
  return (
    <>
      <Table
        caption="Grants"
        rows={rows}
        keyOf={({ permission }) => permission}
        columns={[
          {
            id: 'permission',
            head: 'Permission',
            cell: ({ permission }) => <code>{permission}</code>,
          },
          {
            id: 'granted',
            head: 'Granted',
            cell: ({ isGranted }) => <State value={isGranted ? 'granted' : 'not granted'} />,
          },
          {
            id: 'declared',
            isMinor: true,
            head: 'Declared',
            cell: ({ isDeclared }) => (isDeclared ? 'yes' : 'no: the grant opens nothing'),
          },
          {
            id: 'opens',
            head: 'Opens',
            isText: true,
            cell: ({ opens }) =>
              opens.length === 0 ? <span class="fine">contributions</span> : opens.join(', '),
          },
        ]}
      />
      {open.length > 0 && (
        <p class="note">
          Anybody may call without credentials:{' '}
          {open.map(({ method, path }) => `${method} ${path}`).join(', ')}.
        </p>
      )}
      {missing.length === 0 && isForConsole ? (
        <p class="fine">The descriptor grants this console all that the manifest declares.</p>
      ) : (
        <Card title={`To grant all of it, add this to ${module.file}`}>
          <pre tabIndex={0}>{describeGrants(module, manifest)}</pre>
          {!isForConsole && (
            <p class="fine">
              The descriptor does not name this console yet: <code>builtin</code> means the consoles
              that ship with the host.
            </p>
          )}
        </Card>
      )}
      <RolesOf module={module} manifest={manifest} />
    </>
  );
}

function isGrantedHere({ console: granted }: ModuleStatus): boolean {
  const digest = session.value?.ui_digest ?? '';
  return granted !== undefined && (granted.ui.includes(digest) || granted.ui.includes('builtin'));
}

function listOpened(manifest: Manifest, permission: string): string[] {
  const { admin, config, http_routes: routes } = manifest;
  const entities = (admin?.entities ?? []).filter(
    (entity) => entity.read_capability === permission,
  );
  const actions = (admin?.actions ?? []).filter((action) => action.capability === permission);
  const count = routes.filter(({ capability }) => capability === permission).length;
  return [
    ...entities.map(({ name }) => `entity ${name}`),
    ...actions.map(({ name }) => `action ${name}`),
    ...listOpenedConfig(config, permission),
    ...(count === 0 ? [] : [`${formatCount(count, 'route')} (by scope)`]),
  ];
}

function listOpenedConfig(config: Manifest['config'], permission: string): string[] {
  if (!config?.fields?.length) return [];
  const isWriter = config.write_capability === permission;
  const isReader = isWriter || config.read_capability === permission;
  return [
    ...(isReader ? ['configuration (read)'] : []),
    ...(isWriter ? ['configuration (write)'] : []),
  ];
}

function describeGrants({ console: granted }: ModuleStatus, { capabilities }: Manifest): string {
  const digest = session.value?.ui_digest;
  const others = (granted?.ui ?? []).filter(
    (artifact) => artifact !== 'builtin' && artifact !== digest,
  );
  return [
    'console:',
    `  ui: [${['builtin', ...others].join(', ')}]`,
    `  grants: [${capabilities.join(', ')}]`,
  ].join('\n');
}
