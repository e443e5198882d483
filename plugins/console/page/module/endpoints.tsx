import { samples } from '../live.js';
import type { ModuleStatus, Sample } from '../types.js';
import { RateCharts } from '../ui/chart.js';
import { Latency } from '../ui/latency.js';
import { Card, Empty, RelativeTime, State, useResource } from '../ui/parts.js';
import { Table } from '../ui/table.js';
import type { TabProps } from './tab-props.js';

export function EndpointsTab({ module }: TabProps) {
  const path = `/samples?${new URLSearchParams({ module: module.name ?? '' })}`;
  // Read with each sample of the host.
  const { data } = useResource<{ samples: Sample[] }>(path, String(samples.value.at(-1)?.at));
  return (
    <>
      <Latest module={module} />
      <EndpointTable module={module} />
      <Card title="Calls, last 15 minutes">
        <RateCharts samples={data?.samples ?? []} />
      </Card>
      <Card title="Latency by route, last 15 minutes">
        <Latency
          module={module.name}
          head="Route"
          nameOf={({ method, route }) => (route === null ? null : `${method} ${route}`)}
        />
      </Card>
    </>
  );
}

/** Shows what changes while the module serves, and events do not contain. */
function Latest({ module }: Pick<TabProps, 'module'>) {
  const hasLatest = module.resolved_at !== undefined || module.facts !== undefined;
  const version = String(samples.value.at(-1)?.at);
  const { data } = useResource<{ modules: ModuleStatus[] }>(hasLatest ? '/modules' : null, version);
  const latest = data?.modules.find(({ file }) => file === module.file) ?? module;
  return (
    <>
      <Resolution module={latest} />
      <Facts module={latest} />
    </>
  );
}

/** What the provider says about itself. */
function Facts({ module: { facts = [] } }: Pick<TabProps, 'module'>) {
  if (facts.length === 0) return null;
  return (
    <Table
      caption="Provider"
      rows={facts}
      keyOf={({ name }) => name}
      columns={[
        { id: 'name', head: 'Fact', cell: ({ name }) => name },
        {
          id: 'value',
          head: 'Value',
          cell: ({ value, problem }) => (problem ? <strong>Problem: {value}</strong> : value),
        },
      ]}
    />
  );
}

function Resolution({ module }: Pick<TabProps, 'module'>) {
  const { resolved_at: at, resolve_error: error } = module;
  if (at === undefined) return null;
  return (
    <>
      <p class="fine">
        Found by DNS:{' '}
        {at === null ? (
          'no name was resolved yet'
        ) : (
          <>
            last answer <RelativeTime at={at} />
          </>
        )}
      </p>
      {error && <p class="note">{error}</p>}
    </>
  );
}

function EndpointTable({ module }: Pick<TabProps, 'module'>) {
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
