import { isEndpointDown } from '../../../../core/contract/module-status.js';
import { modules, samples } from '../live.js';
import { pathTo } from '../location.js';
import type { ModuleStatus } from '../types.js';
import { RateCharts } from '../ui/chart.js';
import { FleetHosts } from '../ui/fleet-hosts.js';
import { Latency } from '../ui/latency.js';
import { ModulesState } from '../ui/modules.js';
import { Card, Empty, PageHead, RelativeTime, State, useResource } from '../ui/parts.js';

const MAX_LISTED = 20;

interface HostFacts {
  readonly version: string;
  readonly node?: string;
  readonly started_at?: string;
  readonly workers?: number;
  readonly fleet?: string | null;
}

export function Overview() {
  const { data: host } = useResource<HostFacts>('/host');
  const whose = host?.fleet ? ' of this host' : '';
  return (
    <>
      <PageHead title="Overview" />
      <ModulesState />
      {modules.value && <Facts all={modules.value} host={host} />}
      {host?.fleet && <FleetHosts />}
      <Card title={`Calls${whose}, last 15 minutes`}>
        <RateCharts samples={samples.value} />
      </Card>
      <Card title={`Latency by module${whose}, last 15 minutes`}>
        <Latency
          module={null}
          head="Module"
          nameOf={({ module }) => module}
          hrefOf={(name) => pathTo('modules', name)}
        />
      </Card>
      {modules.value && (
        <div class="grid">
          <Troubled all={modules.value} />
          <Breakers all={modules.value} />
        </div>
      )}
    </>
  );
}

function Facts({ all, host }: { all: readonly ModuleStatus[]; host: HostFacts | undefined }) {
  const whose = host?.fleet ? ' of this host' : '';
  const byState = Map.groupBy(all, ({ state }) => state);
  // Uses the figures of the charts, because the counts of a module restart with each of its
  // versions.
  const sum = (name: 'calls' | 'failed') =>
    samples.value.reduce((total, sample) => total + sample[name], 0);
  const streams = all.reduce((total, { counts }) => total + (counts.streams ?? 0), 0);
  const down = all.filter(hasEndpointDown).length;
  const inFlight = all.reduce((total, { counts }) => total + counts.in_flight, 0);
  return (
    <dl class="facts">
      <div>
        <dt>Modules</dt>
        <dd>{all.length}</dd>
        <dd class="states">
          {[...byState].map(([state, list]) => (
            <a key={state} href={`${pathTo('modules')}?state=${encodeURIComponent(state)}`}>
              <State value={state} /> {list.length}
            </a>
          ))}
        </dd>
        {down > 0 && <dd class="fine">{down} with an endpoint down</dd>}
      </div>
      <div>
        <dt>Calls{whose}, last 15 minutes</dt>
        <dd>{samples.value.length === 0 ? '…' : sum('calls').toLocaleString('en')}</dd>
        <dd class="fine">{sum('failed').toLocaleString('en')} failed</dd>
      </div>
      <div>
        <dt>In flight{whose}</dt>
        <dd>{inFlight}</dd>
        {streams > 0 && <dd class="fine">{streams} open streams</dd>}
      </div>
      <div>
        <dt>Host</dt>
        <dd>{host?.version ?? '…'}</dd>
        <dd class="fine">
          {host?.started_at && (
            <>
              started <RelativeTime at={host.started_at} />
            </>
          )}
          {host?.workers !== undefined && host.workers > 1 && <> · {host.workers} workers</>}
          {host?.node && <> · Node {host.node.replace(/^v/, '')}</>}
        </dd>
      </div>
    </dl>
  );
}

const HEALTHY = new Set(['live', 'disabled']);

function hasEndpointDown({ endpoints }: ModuleStatus): boolean {
  return endpoints.some(isEndpointDown);
}

/** Lists modules that do not serve, with an endpoint down, or whose last change was rejected. */
function Troubled({ all }: { all: readonly ModuleStatus[] }) {
  const troubled = all.filter(
    (module) =>
      !HEALTHY.has(module.state) ||
      (module.state === 'live' && module.reason !== null) ||
      hasEndpointDown(module),
  );
  return (
    <Card title="Needs attention">
      {troubled.length === 0 && (
        <Empty title="Every module serves">
          Failed reloads, modules that wait and endpoints that are down appear here.
        </Empty>
      )}
      <ul class="plain">
        {troubled
          .slice(0, MAX_LISTED)
          .map(({ name, file, state, reason, hint, since, endpoints }) => (
            <li key={file}>
              {name === null ? <code>{file}</code> : <a href={pathTo('modules', name)}>{name}</a>}{' '}
              <State value={state} /> <RelativeTime at={since} />
              {endpoints.filter(isEndpointDown).map(({ endpoint, state: endpointState }) => (
                <p key={endpoint} class="fine">
                  <code>{endpoint}</code> is {endpointState}
                </p>
              ))}
              {reason && <p class="fine">{reason}</p>}
              {hint && <p class="fine next">{hint}</p>}
            </li>
          ))}
      </ul>
      <Rest of={troubled} />
    </Card>
  );
}

function Breakers({ all }: { all: readonly ModuleStatus[] }) {
  const open = all.flatMap(({ name, endpoints }) =>
    endpoints.flatMap(({ endpoint, state, routes = [] }) => [
      ...(isEndpointDown({ state }) ? [{ name, endpoint, state, route: '' }] : []),
      ...routes.map((breaker) => ({ name, endpoint, state: breaker.state, route: breaker.route })),
    ]),
  );
  return (
    <Card title="Open breakers">
      {open.length === 0 && (
        <Empty title="None is open">
          A breaker opens when an endpoint or a route of it fails too often.
        </Empty>
      )}
      <ul class="plain">
        {open.slice(0, MAX_LISTED).map(({ name, endpoint, state, route }) => (
          <li key={`${name} ${endpoint} ${route}`}>
            {name && <a href={pathTo('modules', name)}>{name}</a>} <State value={state} />
            <p class="fine">
              <code>{endpoint}</code> {route && <code>{route}</code>}
            </p>
          </li>
        ))}
      </ul>
      <Rest of={open} />
    </Card>
  );
}

/** Names how many of a list are not shown. */
function Rest({ of: { length } }: { of: readonly unknown[] }) {
  return length > MAX_LISTED ? (
    <p class="fine">and {length - MAX_LISTED} more, see Modules</p>
  ) : null;
}
