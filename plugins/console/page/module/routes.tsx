import { pathToDecision, targetOf } from '../location.js';
import { Empty, State } from '../ui/parts.js';
import { Table } from '../ui/table.js';
import type { TabProps } from './tab-props.js';

export function RoutesTab({ module, manifest }: TabProps) {
  const { http_routes: routes } = manifest;
  if (routes.length === 0)
    return <Empty title="No routes">The manifest of this module declares none.</Empty>;
  const broken = new Map(
    module.endpoints.flatMap(({ routes: open = [] }) =>
      open.map(({ route, state }) => [route, state] as const),
    ),
  );
  return (
    <Table
      caption="Routes"
      rows={routes}
      keyOf={({ method, path }) => `${method} ${path}`}
      columns={[
        { id: 'method', head: 'Method', cell: ({ method }) => <code>{method}</code> },
        { id: 'path', head: 'Path', cell: ({ path }) => <code>{path}</code> },
        {
          id: 'capability',
          head: 'Capability',
          cell: ({ capability }) =>
            capability ? <code>{capability}</code> : <span class="fine">none: denied to all</span>,
        },
        {
          id: 'summary',
          head: 'Summary',
          isText: true,
          cell: ({ summary, deprecated }) => (
            <>
              {summary} {deprecated && <State value="deprecated" />}
            </>
          ),
        },
        {
          id: 'breaker',
          head: 'Breaker',
          cell: ({ method, path }) => <State value={broken.get(`${method} ${path}`) ?? 'closed'} />,
        },
        {
          id: 'explain',
          head: 'Decision',
          cell: ({ method, path }) => (
            <a href={pathToDecision(method, targetOf(module.name ?? '', path))}>Explain</a>
          ),
        },
      ]}
    />
  );
}
