import { expect } from 'chai';
import fc from 'fast-check';
import { parseRouteTemplate } from '../../../core/lib/routing/route-template.js';
import { listRouteArguments } from '../../../core/operations/exposed/operation-arguments.js';
import { describeModule } from '../../support/http/modules.js';
import { useHost } from '../../support/http/use-host.js';
import { callTool, listTools } from '../../support/mcp/mcp-call.js';

const ACCEPTED = /^[A-Za-z0-9_.-]{1,64}$/;
const LONG = 'x'.repeat(80);

/** Names on the wire, and those of the arguments. */
const QUERY = {
  'filter[name]': 'filter_name_2',
  'filter(name)': 'filter_name_3',
  filter_name: 'filter_name',
  $top: 'top',
  'ids[]': 'ids_2',
  ids: 'ids',
  'a.b-c': 'a.b-c',
  [LONG]: 'x'.repeat(56),
  [`${LONG}y`]: `${'x'.repeat(56)}_2`,
  имя: 'query',
  путь: 'query_2',
  'q\u200b`': 'q',
  id: 'query_id',
  path_id: 'path_id',
  body: 'query_body',
  __proto__: 'proto',
  toString: 'toString',
};

function describeArguments(url: string): object {
  const properties = Object.entries(QUERY).map(([name]) => [name, { description: 'Words.' }]);
  const query_schema = {
    type: 'object',
    properties: Object.fromEntries([...properties, ['b', true], ['[b]', true], ['{b}', false]]),
  };
  const path = `/items/{id}/{${'p'.repeat(70)}}`;
  const operation = { operation_id: 'find', query_schema };
  return describeModule('args', url, [{ method: 'GET', path, capability: 'a.read', operation }], {
    mcp: { expose: 'read' },
  });
}

const names = fc.uniqueArray(
  fc.oneof(
    fc.string({ minLength: 1, maxLength: 5, unit: fc.constantFrom('a', '_', '[', ']', '2', '.') }),
    fc.constantFrom('body', 'path_a', 'query_a', 'a_2', LONG, `${LONG}[]`, 'é', 'constructor'),
  ),
  { maxLength: 12 },
);
const pathNames = fc.uniqueArray(fc.constantFrom('a', 'body', 'path_a', 'a_2', LONG), {
  maxLength: 4,
});

describe('names of arguments', () => {
  const setup = useHost(({ url }) => ({ 'args.json': describeArguments(url) }), {
    args: ['--surfaces', 'mcp'],
    isDescribed: false,
  });

  it('are those that model APIs accept, with the name on the wire in their description', async () => {
    const [tool] = await listTools(setup.host);
    const properties = tool?.inputSchema['properties'] as Record<string, { description: string }>;
    const listed = Object.keys(properties);
    for (const name of listed) expect(name).to.match(ACCEPTED);
    expect(listed).to.include.members([...Object.values(QUERY), 'path_id_2', 'p'.repeat(56)]);
    expect(properties['filter_name_2']?.description).to.equal(
      'Words. Sent in the query as `filter[name]`.',
    );
    expect(properties['filter_name']?.description).to.equal('Words.');
    expect(properties['path_id_2']?.description).to.equal('Sent in the path as `id`.');
    expect(properties['q']?.description).to.equal('Words. Sent in the query as `q\\u200b``.');
    expect(properties).to.deep.include({
      b: {},
      b_2: { description: 'Sent in the query as `[b]`.' },
      b_3: { description: 'Sent in the query as `{b}`.', not: {} },
    });
    expect(tool?.inputSchema['required']).to.deep.equal(['path_id_2', 'p'.repeat(56)]);
  });

  it('are sent under the names on the wire', async () => {
    const path = { path_id_2: 'i', ['p'.repeat(56)]: 'p' };
    for (const [wireName, name] of Object.entries(QUERY)) {
      const args = JSON.stringify({ ...path, [name]: 'v' });
      const { isError } = await callTool(setup.host, 'args_find', args);
      expect(isError, wireName).to.equal(undefined);
      expect(setup.provider.only().target).to.equal(`/items/i/p?${encodeURIComponent(wireName)}=v`);
      setup.provider.reset();
    }
  });

  it('are distinct, and keep names that need no change, in any set', () => {
    fc.assert(
      fc.property(pathNames, names, (ofPath, ofQuery) => {
        const path = `/a${ofPath.map((name) => `/{${name}}`).join('')}`;
        const query_schema = { properties: Object.fromEntries(ofQuery.map((name) => [name, {}])) };
        const declared = { method: 'POST', path, operation: { query_schema } } as const;
        const route = { declared, body: 'required' } as const;
        const listed = listRouteArguments(route, parseRouteTemplate(path));
        for (const { name } of listed) expect(name).to.match(ACCEPTED);
        expect(new Set(listed.map(({ name }) => name)).size).to.equal(listed.length);
        const kept = [...ofPath, ...ofQuery].filter(
          (name) =>
            ACCEPTED.test(name) &&
            name !== 'body' &&
            !(ofPath.includes(name) && ofQuery.includes(name)),
        );
        for (const name of kept)
          expect(listed.find((one) => one.name === name)?.wireName).to.equal(name);
      }),
    );
  });
});
