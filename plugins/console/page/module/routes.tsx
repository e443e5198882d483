import { pathTo, pathToDecision, query, targetOf } from '../location.js';
import type { Manifest } from '../types.js';
import { Empty, FindBox, formatCount, State } from '../ui/parts.js';
import { Table } from '../ui/table.js';
import type { TabProps } from './tab-props.js';

type Route = Manifest['http_routes'][number];

/** Shows the routes of the manifest, and the requirements of their callers. */
export function RoutesTab({ module, manifest }: TabProps) {
  const { http_routes: routes } = manifest;
  if (routes.length === 0)
    return <Empty title="No routes">The manifest of this module declares none.</Empty>;
  const find = query.value.get('find') ?? '';
  const words = find.toLowerCase().split(/\s+/).filter(Boolean);
  const rows = routes.filter((route) => hasWords(route, words));
  const broken = new Map(
    module.endpoints.flatMap(({ routes: open = [] }) =>
      open.map(({ route, state }) => [route, state] as const),
    ),
  );
  return (
    <>
      <div class="row">
        <FindBox placeholder="Method, path, capability or summary" />
        <p class="fine" role="status">
          {rows.length === routes.length
            ? formatCount(rows.length, 'route')
            : `${rows.length.toLocaleString('en')} of ${formatCount(routes.length, 'route')}`}
        </p>
        <a href={`${pathTo('api')}?${new URLSearchParams({ module: module.name ?? '' })}`}>
          Call them on the page API
        </a>
      </div>
      {rows.length === 0 && <Empty title="No route matches">Shorten the text.</Empty>}
      {rows.length > 0 && (
        <Table
          caption="Routes"
          rows={rows}
          keyOf={({ method, path }) => `${method} ${path}`}
          columns={[
            { id: 'method', head: 'Method', cell: ({ method }) => <code>{method}</code> },
            { id: 'path', head: 'Path', cell: ({ path }) => <code>{path}</code> },
            {
              id: 'capability',
              head: 'Capability',
              cell: ({ capability, access }) => {
                if (access === 'public' && module.public)
                  return <State value="public" tone="warn" />;
                return capability ? (
                  <code>{capability}</code>
                ) : (
                  <span class="fine">none: denied to all</span>
                );
              },
            },
            {
              id: 'summary',
              head: 'Summary',
              isText: true,
              cell: ({ summary, deprecated, operation: { body, response, stream } = {} }) => (
                <>
                  {summary} {deprecated && <State value="deprecated" />}
                  {body === 'bytes' && <State value="takes bytes" />}
                  {response === 'bytes' && <State value="gives bytes" />}
                  {stream === 'websocket' && <State value="WebSocket" />}
                  {stream && stream !== 'websocket' && <State value={`streams ${stream}`} />}
                </>
              ),
            },
            {
              id: 'breaker',
              head: 'Breaker',
              cell: ({ method, path }) => (
                <State value={broken.get(`${method} ${path}`) ?? 'closed'} />
              ),
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
      )}
    </>
  );
}

/** @param words in lower case */
function hasWords(
  { method, path, capability = '', summary = '' }: Route,
  words: readonly string[],
) {
  const text = `${method} ${path} ${capability} ${summary}`.toLowerCase();
  return words.every((word) => text.includes(word));
}
