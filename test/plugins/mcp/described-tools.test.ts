import { expect } from 'chai';
import { call, parseJson } from '../../support/http/call.js';
import { describeModule } from '../../support/http/modules.js';
import { useHost } from '../../support/http/use-host.js';
import { waitUntil } from '../../support/http/wait-until.js';
import { callTool, listTools } from '../../support/mcp/mcp-call.js';

const COLOR = { enum: ['red', 'green'] };
const LONG = { enum: Array.from({ length: 200 }, (_, index) => `value ${index}`) };
const TREE = { type: 'object', properties: { next: { $ref: '#' } } };
const ref = (name: string) => ({ $ref: `manifest:schemas/${name}` });

const ROUTES = [
  { method: 'GET', path: '/items', capability: 's.use', operation: { operation_id: 'list' } },
  {
    ...{ method: 'POST', path: '/items', capability: 's.use', summary: 'Adds an item.' },
    operation: {
      operation_id: 'add',
      input_schema: {
        type: 'object',
        properties: {
          color: ref('Color'),
          other: { ...ref('Color'), description: 'The other.' },
          least: { ...ref('Color'), minLength: 4 },
          size: ref('Long'),
          tree: ref('Tree'),
          box: ref('Box'),
        },
      },
    },
  },
];

function describeShop(
  module: string,
  url: string,
  tools: object,
  routes: readonly object[] = ROUTES,
): object {
  const shop = describeModule(module, url, routes as typeof ROUTES, {
    mcp: { expose: 'all', approve: 'never', tools },
  }) as { manifest: { inline: object } };
  Object.assign(shop.manifest.inline, {
    summary: 'A shop.',
    schemas: { Color: COLOR, Long: LONG, Tree: TREE, Box: { properties: { color: ref('Color') } } },
    admin: { entities: [{ name: 'people', read_capability: 's.use', list_path: '/people' }] },
  });
  return shop;
}

describe('tools that a descriptor describes', () => {
  const tools = {
    list: { name: 'find_items', description: `Finds items.\u200b${'x'.repeat(950)}` },
    'entity:people': { name: 'b_list' },
    add: { description: 'Adds one item.' },
  };
  const setup = useHost(
    ({ url }) => ({
      'a.json': describeShop('a', url, tools),
      'b.json': describeShop('b', url, {}),
    }),
    { args: ['--surfaces', 'mcp'], isDescribed: false },
  );

  it('have exactly its names, and no other tool has them', async () => {
    const listed = (await listTools(setup.host)).map(({ name }) => name);
    expect(listed.slice(0, 3)).to.deep.equal(['find_items', 'a_add', 'b_list']);
    expect(listed[3]).to.match(/^b_list_[0-9a-f]{16}$/);
    expect(listed.slice(4)).to.deep.equal(['b_add', 'b_list_people']);
    await callTool(setup.host, 'find_items');
    expect(setup.provider.only().target).to.equal('/items');
    setup.provider.reset();
    setup.provider.answer({ body: '{"records":[]}' });
    expect((await callTool(setup.host, 'b_list')).isError).to.equal(undefined);
    expect(setup.provider.only().target).to.match(/^\/people/);
  });

  it('have its descriptions, escaped, before the sentence of the host', async () => {
    const [find, add] = await listTools(setup.host);
    expect(find?.description).to.match(
      /^Finds items\.\\u200bx{900,}…?\n\n\(GET \/items of module a\.\)$/,
    );
    expect(find?.description.length).to.be.at.most(1000);
    expect(add?.description).to.equal('Adds one item.\n\n(POST /items of module a.)');
  });

  it('are described by method and path without texts of their own, not by those of the module', async () => {
    const described = await listTools(setup.host, { module: 'b' });
    expect(described.map(({ description }) => description)).to.deep.equal([
      '(GET /items of module b.)',
      'Adds an item.\n\n(POST /items of module b.)',
      '(entity people of module b.)',
    ]);
  });

  it('have small shared schemas in place of references', async () => {
    const [, add] = await listTools(setup.host, { module: 'b' });
    const properties = add?.inputSchema['properties'] as { body: { properties: object } };
    const shared = (name: string) => ({ $ref: `#/$defs/shared:${name}` });
    expect(properties.body.properties).to.deep.equal({
      ...{ color: COLOR, other: { ...COLOR, description: 'The other.' } },
      ...{ least: { ...shared('Color'), minLength: 4 }, size: shared('Long') },
      ...{ tree: shared('Tree'), box: shared('Box') },
    });
    const defs = add?.inputSchema['$defs'] as Record<string, unknown>;
    expect(defs).to.have.all.keys('shared:Color', 'shared:Long', 'shared:Tree', 'shared:Box');
    expect(defs['shared:Box']).to.deep.equal({ properties: { color: COLOR } });
  });

  it('keep their names: a second file that gives one of them is rejected', async () => {
    const other = { list: { name: 'find_items' } };
    setup.host.drop('c.json', describeShop('c', setup.provider.url, other));
    const read = async () => {
      const { modules } = parseJson(await call(setup.host, { target: '/modules' }));
      return (modules as Record<string, unknown>[]).find(({ file }) => file === 'c.json');
    };
    await waitUntil('the file is rejected', async () => (await read())?.['state'] === 'refused');
    expect((await read())?.['reason']).to.equal("tool 'find_items' is already named by a.json");
    setup.host.drop('a.json', describeShop('a', setup.provider.url, {}));
    await waitUntil('the other file has it', async () => (await read())?.['state'] === 'live');
    await callTool(setup.host, 'find_items');
    expect(setup.provider.requests).to.have.length(1);
  });

  it('are not those of members that every object has', async () => {
    const operation = { operation_id: 'constructor' };
    const routes = [{ method: 'GET', path: '/o', capability: 's.use', operation }];
    setup.host.drop('d.json', describeShop('d', setup.provider.url, { list: {} }, routes));
    const listNames = async () =>
      (await listTools(setup.host, { module: 'd' })).map(({ name }) => name);
    await waitUntil('the tool', async () => (await listNames()).length > 0);
    expect(await listNames()).to.include('d_constructor');
  });
});
