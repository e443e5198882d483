import { expect } from 'chai';
import { describeModule } from '../../support/http/modules.js';
import { useHost } from '../../support/http/use-host.js';
import { callTool, listTools, problemOf } from '../../support/mcp/mcp-call.js';

const route = (
  method: string,
  operation_id: string,
  more: object = {},
  operation: object = {},
) => ({
  ...{ method, path: `/${operation_id}`, capability: 's.use', ...more },
  operation: { operation_id, ...operation },
});

const ROUTES = [
  ...Array.from({ length: 40 }, (_, index) => route('POST', `write${index}`)),
  route('GET', 'weighParcel', { summary: 'How heavy is it?' }),
  route('GET', 'invoices', { description: 'Bills of customers.', tags: ['accounting'] }),
  route('GET', 'orders', {}, { query_schema: { properties: { 'shipped[after]': {} } } }),
  route('POST', 'refund', {}, { input_schema: { type: 'object', properties: { iban: {} } } }),
];

function describeShop(url: string): object {
  const shop = describeModule('shop', url, ROUTES, { mcp: { expose: 'all' } });
  Object.assign((shop as { manifest: { inline: object } }).manifest.inline, {
    summary: 'Sells\u200b garden tools.',
    admin: {
      entities: [{ name: 'staff', label: 'People', read_capability: 's.use', list_path: '/staff' }],
      actions: [
        {
          ...{ name: 'close', capability: 's.use', invoke_path: '/close', danger_level: 'low' },
          input_schema: { fields: [{ name: 'until', type: 'timestamp', label: 'Reopening day' }] },
        },
      ],
    },
  });
  return shop;
}

describe('search_tools', () => {
  const setup = useHost(({ url }) => ({ 'shop.json': describeShop(url) }), {
    args: ['--surfaces', 'mcp'],
    isDescribed: false,
  });
  const search = async (query: string, as = 'dev-system:root') => {
    const result = await callTool(setup.host, 'search_tools', JSON.stringify({ query }), { as });
    return JSON.parse(result.content[0]?.text ?? '') as {
      tools: { name: string }[];
      modules?: object[];
    };
  };

  for (const [query, name] of [
    ['parcels', 'shop_weighParcel'],
    ['what is the weight of a parcel, please', 'shop_weighParcel'],
    ['heavy', 'shop_weighParcel'],
    ['bill', 'shop_invoices'],
    ['Accounting', 'shop_invoices'],
    ['shipped', 'shop_orders'],
    ['IBAN', 'shop_refund'],
    ['people', 'shop_list_staff'],
    ['reopening', 'shop_close'],
    ['get orders', 'shop_orders'],
  ] as const) {
    it(`finds ${name} for '${query}'`, async () => {
      expect((await search(query)).tools[0]).to.include({ name });
    });
  }

  it('finds nothing by texts of the host, and returns the modules instead', async () => {
    for (const query of ['person', 'approval waits', 'the of a', 'unrelated']) {
      expect(await search(query), query).to.deep.equal({
        tools: [],
        modules: [{ name: 'shop', summary: 'Sells\\u200b garden tools.' }],
      });
    }
    expect(await search('unrelated', 'dev-service:other')).to.deep.equal({ tools: [] });
    expect((await search(' ')).tools).to.have.length(20);
  });

  it('comes with a tool that reads and one that may change data', async () => {
    const hints = (await listTools(setup.host)).map(({ name, annotations }) => {
      return [name, annotations['readOnlyHint'], annotations['destructiveHint']];
    });
    expect(hints).to.deep.equal([
      ['search_tools', true, false],
      ['describe_tool', true, false],
      ['read_tool', true, false],
      ['call_tool', false, true],
    ]);
    setup.provider.answer({ body: '{"records":[]}' });
    for (const name of ['shop_orders', 'shop_list_staff']) {
      const read = await callTool(setup.host, 'read_tool', JSON.stringify({ name }));
      expect(read.isError, name).to.equal(undefined);
    }
    expect(setup.provider.requests).to.have.length(2);
    for (const name of ['shop_refund', 'shop_close']) {
      const args = JSON.stringify({ name, arguments: { body: {} } });
      expect(problemOf(await callTool(setup.host, 'read_tool', args))['errors']).to.deep.equal([
        {
          field: 'name',
          reason: 'a tool that may change data: expected one that reads; call it with call_tool',
        },
      ]);
      const as = 'dev-service:other';
      const unknown = problemOf(await callTool(setup.host, 'read_tool', args, { as }));
      expect(JSON.stringify(unknown)).not.to.include('change data');
    }
    expect(setup.provider.requests).to.have.length(2);
  });
});
