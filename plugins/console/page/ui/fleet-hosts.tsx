import type { FleetStatus } from '../types.js';
import { ListTable } from './list-table.js';
import { Card, ReloadButton, ResourceState, useResource } from './parts.js';

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
          <ListTable
            of="/fleet"
            caption={`Hosts of the fleet ${data.fleet}`}
            rows={data.hosts}
            keyOf={({ id }) => id}
          />
        </>
      )}
    </Card>
  );
}
