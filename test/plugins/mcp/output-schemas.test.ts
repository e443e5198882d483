import { expect } from 'chai';
import { describeModule } from '../../support/http/modules.js';
import { useHost } from '../../support/http/use-host.js';
import { callTool, type ListedTool, listTools } from '../../support/mcp/mcp-call.js';
import { connectClient, connectFirstClient } from '../../support/mcp/official-clients.js';

const SAFE = { minimum: 0, maximum: Number.MAX_SAFE_INTEGER };
const closed = (properties: object) => {
  return { type: 'object', properties, additionalProperties: false };
};

/** Every answer that such a schema admits survives a parse. */
const EXACT: Readonly<Record<string, object>> = {
  texts: closed({ name: { type: 'string', maxLength: 9 }, tag: { enum: ['a', null, true] } }),
  safe: closed({ id: { type: 'integer', ...SAFE } }),
  tree: closed({
    id: { type: ['string', 'null'] },
    parts: { type: 'array', items: { $ref: '#' } },
  }),
  shared: { $ref: 'manifest:schemas/Person' },
  defined: {
    $ref: '#/$defs/Map',
    $defs: { Map: { type: 'object', additionalProperties: { type: 'boolean' } } },
  },
};

const INEXACT: Readonly<Record<string, object>> = {
  open: { type: 'object' },
  members: { type: 'object', properties: { name: { type: 'string' } } },
  integer: closed({ id: { type: 'integer' } }),
  half: closed({ id: { type: 'integer', minimum: 0 } }),
  number: closed({ id: { type: 'number', ...SAFE } }),
  one: closed({ id: { enum: [1, 'a'] } }),
  date: closed({ at: { type: 'string', format: 'date-time' } }),
  pattern: closed({ at: { type: 'string', pattern: '^\\d+$' } }),
  list: { type: 'array', items: { type: 'string' } },
  nullable: { ...closed({}), type: ['object', 'null'] },
  hidden: closed({ 'a\u200b': { type: 'string' } }),
  inherited: closed({ toString: { type: 'string' } }),
  tuple: closed({ a: { type: 'array', prefixItems: [true], items: { type: 'null' } } }),
  lost: { ...closed({ a: { $ref: 'manifest:schemas/Open' } }) },
};

const ANSWERS = [
  { status: 204, body: null },
  ...['', 'null', '[{"id":1}]', '{}', '{"id":9007199254740993}', '{"id":1e400}', '{"id":1.0}'],
  ...['{"id":5.000000000000000000001}', '{"name":"x","name":"y"}', '{"name":"a😀é"}', '{"tag":7}'],
  ...[
    '{"id":"a","parts":[{"parts":[]}]}',
    '{"x":true}',
    '{"records":[{"id":0.10000000000000001}]}',
  ],
].map((answer) => (typeof answer === 'string' ? { body: answer } : answer));

const toRoutes = (schemas: Readonly<Record<string, object>>) =>
  Object.entries(schemas).map(([name, output_schema]) => ({
    ...{ method: 'GET', path: `/${name}`, capability: 'm.read' },
    operation: { operation_id: name, output_schema },
  }));

function describeOutputs(module: string, url: string, overrides: object): object {
  const routes = toRoutes({ ...EXACT, ...INEXACT });
  const described = describeModule(module, url, routes, {
    mcp: { expose: 'all', approve: 'never' },
    ...overrides,
  }) as { manifest: { inline: object } };
  Object.assign(described.manifest.inline, {
    schemas: {
      Person: closed({ name: { $ref: 'manifest:schemas/Name' } }),
      Name: { type: 'string' },
      Open: true,
    },
    admin: {
      entities: [{ name: 'rows', read_capability: 'm.read', list_path: '/rows' }],
      actions: [{ name: 'act', capability: 'm.read', invoke_path: '/act' }],
    },
  });
  return described;
}

describe('output schemas of tools', () => {
  const setup = useHost(
    ({ url }) => ({
      'strict.json': describeOutputs('strict', url, { schemas: { output: 'enforce' } }),
      'loose.json': describeOutputs('loose', url, { schemas: { output: 'report' } }),
      'raw.json': describeOutputs('raw', url, {
        ...{ schemas: { output: 'enforce' }, responses: { mode: 'raw' } },
      }),
    }),
    { args: ['--surfaces', 'mcp'], isDescribed: false },
  );

  const listed = async (module: string): Promise<string[]> => {
    const tools = await listTools(setup.host, { module });
    const hasSchema = ({ outputSchema }: ListedTool) => outputSchema !== undefined;
    return tools.filter(hasSchema).map(({ name }) => name.slice(module.length + 1));
  };

  it('are those that the host enforces and whose values survive a parse', async () => {
    expect(await listed('strict')).to.deep.equal(Object.keys(EXACT));
    expect(await listed('loose')).to.deep.equal([]);
    expect(await listed('raw')).to.deep.equal([]);
  });

  it('give the result as structured content beside its text', async () => {
    setup.provider.answer({ body: '{"id": 1.0}' });
    const { content, structuredContent } = await callTool(setup.host, 'strict_safe');
    expect(content).to.deep.equal([{ type: 'text', text: '{"id": 1.0}' }]);
    expect(structuredContent).to.deep.equal({ id: 1 });
    expect(await callTool(setup.host, 'loose_safe')).not.to.have.property('structuredContent');
  });

  for (const [generation, connect] of [
    ['2.x', connectClient],
    ['1.x', connectFirstClient],
  ] as const) {
    it(`are kept by every result, as the official library ${generation} checks`, async () => {
      for (const module of ['strict', 'loose', 'raw']) {
        const client = await connect(`${setup.host.url}/mcp/${module}`, 'dev-system:root');
        const { tools } = await client.listTools();
        expect(tools).to.have.length(21);
        const checked = tools.filter(({ outputSchema }) => outputSchema !== undefined);
        for (const [index, answer] of ANSWERS.entries()) {
          setup.provider.answer(answer);
          // Clients check nothing without a schema.
          const called = index === 0 ? tools : checked;
          const results = await Promise.all(
            called.map(({ name }) => client.callTool({ name, arguments: {} })),
          );
          for (const { content } of results) expect(content).to.have.length(1);
        }
        await client.close();
      }
    });
  }
});
