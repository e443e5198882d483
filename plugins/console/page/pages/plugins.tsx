import { Empty, PageHead, ReloadButton, ResourceState, State, useResource } from '../ui/parts.js';
import { Table } from '../ui/table.js';

interface Plugin {
  readonly name: string;
  readonly version: string | null;
  readonly origin: string;
  readonly kinds: readonly string[];
  readonly authenticators: readonly string[];
  readonly surfaces?: readonly string[];
  readonly signers?: readonly string[];
  readonly state: string;
  readonly integrity: string | null;
  readonly reason: string | null;
  readonly hint: string | null;
}

interface SurfaceState {
  readonly name: string;
  readonly plugin: string;
  readonly prefix: string | null;
  readonly state: string;
  readonly reason: string | null;
}

export function PluginsPage() {
  const resource = useResource<{
    plugins: Plugin[];
    surfaces: SurfaceState[];
  }>('/plugins');
  const { data } = resource;
  return (
    <>
      <PageHead title="Plugins">
        <ReloadButton of={resource} />
      </PageHead>
      <ResourceState of={resource} />
      {data && data.plugins.length === 0 && (
        <Empty title="No plugins">
          Those that ship with the host are missing too: check the installation.
        </Empty>
      )}
      {data && data.plugins.length > 0 && (
        <Table
          caption="Plugins"
          rows={data.plugins}
          keyOf={({ name, origin }) => `${origin} ${name}`}
          columns={[
            {
              id: 'name',
              head: 'Name',
              cell: ({ name, version }) => (
                <>
                  {name} <span class="fine">{version}</span>
                </>
              ),
            },
            { id: 'origin', head: 'Origin', cell: ({ origin }) => origin },
            {
              id: 'offers',
              head: 'Offers',
              isText: true,
              cell: (plugin) => describeOffers(plugin),
            },
            { id: 'state', head: 'State', cell: ({ state }) => <State value={state} /> },
            { id: 'integrity', head: 'Integrity', cell: ({ integrity }) => integrity ?? '–' },
            {
              id: 'reason',
              head: 'Reason',
              isText: true,
              cell: ({ reason, hint }) => [reason, hint].filter(Boolean).join(' · ') || '–',
            },
          ]}
        />
      )}
      {data && data.surfaces.length > 0 && (
        <Table
          caption="Surfaces"
          rows={data.surfaces}
          keyOf={({ name }) => name}
          columns={[
            { id: 'name', head: 'Surface', cell: ({ name }) => name },
            {
              id: 'prefix',
              head: 'Prefix',
              cell: ({ prefix }) => (prefix ? <code>{prefix}</code> : '–'),
            },
            { id: 'plugin', head: 'Plugin', cell: ({ plugin }) => plugin },
            {
              id: 'state',
              head: 'State',
              // Differs from a circuit breaker, for which open is bad.
              cell: ({ state }) => (
                <State value={state} {...(state === 'open' && { tone: 'good' })} />
              ),
            },
            { id: 'reason', head: 'Reason', isText: true, cell: ({ reason }) => reason ?? '–' },
          ]}
        />
      )}
    </>
  );
}

function describeOffers({ kinds, authenticators, surfaces = [], signers = [] }: Plugin): string {
  const parts = [
    kinds.length > 0 && `kinds ${kinds.join(', ')}`,
    authenticators.length > 0 && `authenticators ${authenticators.join(', ')}`,
    surfaces.length > 0 && `surfaces ${surfaces.join(', ')}`,
    signers.length > 0 && `signers ${signers.join(', ')}`,
  ];
  return parts.filter(Boolean).join('; ') || '–';
}
