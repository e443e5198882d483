import type { FleetHostStatus, FleetStatus } from '../types.js';
import { Card, RelativeTime, ReloadButton, ResourceState, State, useResource } from './parts.js';
import { Table } from './table.js';

/** Shows the hosts of the fleet, and whether they serve the same modules. */
export function FleetHosts() {
  const resource = useResource<FleetStatus>('/fleet');
  const { data } = resource;
  return (
    <Card title="Fleet">
      <ResourceState of={resource} />
      {data && (
        <>
          <div class="row">
            <p role="status">
              {data.agreed ? 'All hosts serve the same.' : 'The hosts do not agree.'}
            </p>
            <ReloadButton of={resource} />
          </div>
          <Table
            caption={`Hosts of the fleet ${data.fleet}`}
            rows={data.hosts}
            keyOf={({ id }) => id}
            columns={[
              {
                id: 'address',
                head: 'Host',
                isText: true,
                cell: ({ address, id }) => (
                  <>
                    {address || '–'} <span class="fine">{id}</span>
                  </>
                ),
              },
              { id: 'state', head: 'State', cell: ({ state }) => <State value={state} /> },
              { id: 'version', head: 'Version', cell: ({ version }) => version },
              { id: 'workers', head: 'Workers', cell: ({ workers }) => workers },
              {
                id: 'serves',
                head: 'Serves',
                isText: true,
                cell: (host) => <Served host={host} />,
              },
              {
                id: 'heartbeat',
                head: 'Heartbeat',
                cell: ({ heartbeat_at }) => <RelativeTime at={heartbeat_at} />,
              },
            ]}
          />
        </>
      )}
    </Card>
  );
}

function Served({ host: { digest, rejected } }: { host: FleetHostStatus }) {
  return (
    <>
      <code>{digest.replace(/^sha256:/, '').slice(0, 12)}</code>
      {rejected.length > 0 && <p class="fine">rejected or pending: {rejected.join(', ')}</p>}
    </>
  );
}
