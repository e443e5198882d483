import { Empty, State } from '../ui/parts.js';
import { Table } from '../ui/table.js';
import type { TabProps } from './tab-props.js';

export function EndpointsTab({ module }: TabProps) {
  if (module.endpoints.length === 0)
    return <Empty title="No endpoints">They appear once the module serves.</Empty>;
  return (
    <Table
      caption="Endpoints"
      rows={module.endpoints}
      keyOf={({ endpoint }) => endpoint}
      columns={[
        { id: 'endpoint', head: 'Endpoint', cell: ({ endpoint }) => <code>{endpoint}</code> },
        { id: 'state', head: 'Breaker', cell: ({ state }) => <State value={state} /> },
        { id: 'calls', head: 'Calls', isNumber: true, cell: ({ calls }) => calls ?? '–' },
        {
          id: 'failures',
          head: 'Failures',
          isNumber: true,
          cell: ({ failures }) => failures ?? '–',
        },
        {
          id: 'in_flight',
          head: 'In flight',
          isNumber: true,
          cell: ({ in_flight: inFlight }) => inFlight ?? '–',
        },
        {
          id: 'routes',
          head: 'Open routes',
          cell: ({ routes = [] }) =>
            routes.length === 0
              ? 'none'
              : routes.map(({ route, state }) => (
                  <div key={route}>
                    <code>{route}</code> <State value={state} />
                  </div>
                )),
        },
      ]}
    />
  );
}
