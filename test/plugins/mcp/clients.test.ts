import { expect } from 'chai';
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';
import { headerValue } from '../../../core/selftest/raw-http.js';
import { call, parseJson } from '../../support/http/call.js';
import { expectProblem } from '../../support/http/expect-problem.js';
import { describeModule, type RouteOptions } from '../../support/http/modules.js';
import { useHost } from '../../support/http/use-host.js';
import { waitUntil } from '../../support/http/wait-until.js';
import { callTool, listTools, postMcp, problemOf } from '../../support/mcp/mcp-call.js';
import { connectClient, connectFirstClient } from '../../support/mcp/official-clients.js';

const READER = 'dev-service:agent:shop.read';

const ROUTES: readonly RouteOptions[] = [
  {
    method: 'GET',
    path: '/items/{id}',
    capability: 'shop.read',
    operation: { operation_id: 'get_item' },
  },
];

describe('clients of the surface mcp', () => {
  const describeShop = (url: string, routes = ROUTES) =>
    describeModule('shop', url, routes, { mcp: { expose: 'all', approve: 'never' } });
  const setup = useHost(({ url }) => ({ 'shop.json': describeShop(url) }), {
    args: ['--surfaces', 'mcp'],
  });

  const connect = (target: string, options: Parameters<typeof connectClient>[2] = {}) =>
    connectClient(setup.host.url + target, READER, options);

  for (const [generation, open] of [
    ['2.x', () => connect('/mcp/shop')],
    ['2.x, in its mode for older servers', () => connect('/mcp/shop', { mode: 'legacy' })],
    ['1.x', () => connectFirstClient(`${setup.host.url}/mcp/shop`, READER)],
  ] as const) {
    it(`list and call tools with the official library ${generation}`, async () => {
      const client = await open();
      const { tools } = await client.listTools();
      expect(tools.map(({ name }) => name)).to.deep.equal(['shop_get_item']);
      setup.provider.answer({ body: '{"id":7}' });
      const result = await client.callTool({ name: 'shop_get_item', arguments: { id: '7' } });
      expect(result.content).to.deep.equal([{ type: 'text', text: '{"id":7}' }]);
      await client.close();
    });
  }

  it('are notified of tools that a reload adds, not of a reload that changes none', async () => {
    let changes = 0;
    const onChanged = () => {
      changes += 1;
    };
    const client = await connect('/mcp/shop', { onChanged });
    const names = async () => (await client.listTools()).tools.map(({ name }) => name);
    expect(await names()).to.deep.equal(['shop_get_item']);
    setup.host.drop('other.json', describeModule('other', setup.provider.url, ROUTES));
    await waitUntil('the other module is served', async () => {
      const request = { target: '/modules/other/http/items/1', as: 'dev-service:agent:shop.read' };
      return (await call(setup.host, request)).status === 200;
    });
    expect(changes).to.equal(0);
    const more = { method: 'GET', path: '/more', capability: 'shop.read' };
    setup.host.drop('shop.json', describeShop(setup.provider.url, [...ROUTES, more]));
    await waitUntil('the client is notified', async () => changes > 0);
    expect(await names()).to.deep.equal(['shop_get_item', 'shop_get_more']);
    await client.close();
  });

  it('get no notifications in older revisions, which say so', async () => {
    const client = await connect('/mcp/shop', { mode: 'legacy' });
    expect(client.getServerCapabilities()).to.deep.equal({ tools: {} });
    await client.close();
  });

  it('find out from a 401 where to sign in', async () => {
    const response = await postMcp(setup.host, { method: 'tools/list', as: null, module: 'shop' });
    expect(response.status).to.equal(401);
    const challenge = headerValue(response.headers, 'www-authenticate') ?? '';
    const metadataUrl = /resource_metadata="([^"]*)"/.exec(challenge)?.[1] ?? '';
    const origin = `http://127.0.0.1:${setup.host.port}`;
    expect(metadataUrl).to.equal(`${origin}/.well-known/oauth-protected-resource/mcp/shop`);
    const target = metadataUrl.slice(origin.length);
    const metadata = parseJson(await call(setup.host, { target, as: null }));
    expect(metadata).to.include({ resource: `${origin}/mcp/shop` });
    const root = await call(setup.host, {
      target: '/.well-known/oauth-protected-resource',
      as: null,
    });
    expect(parseJson(root)).to.include({ resource: `${origin}/mcp` });
    for (const other of ['/console', '//mcp', '/mcpx']) {
      const foreign = `/.well-known/oauth-protected-resource${other}`;
      expectProblem(await call(setup.host, { target: foreign, as: null }), 404);
    }
    const elsewhere = await call(setup.host, { target: '/modules', as: null });
    expect(headerValue(elsewhere.headers, 'www-authenticate')).to.equal('Bearer');
  });

  const addMany = async () => {
    const routes = Array.from({ length: 41 }, (_, index) => ({
      method: 'GET',
      path: `/r${index}/{id}`,
      capability: 'shop.read',
      ...(index === 7 && { summary: 'Weighs a parcel.' }),
    }));
    const many = describeModule('many', setup.provider.url, routes, { mcp: { expose: 'read' } });
    setup.host.drop('many.json', many);
    await waitUntil('the tools are many', async () => (await listTools(setup.host)).length === 4);
  };

  it('get four tools instead of more than forty', async () => {
    await addMany();
    const tools = await listTools(setup.host);
    const names = tools.map(({ name }) => name);
    expect(names).to.deep.equal(['search_tools', 'describe_tool', 'read_tool', 'call_tool']);
    expect(await listTools(setup.host, { module: 'many' })).to.have.length(41);
    const search = await callTool(setup.host, 'search_tools', '{"query":"weigh parcels parcel"}');
    const result = JSON.parse(search.content[0]?.text ?? '') as { tools: { name: string }[] };
    expect(result.tools[0]?.name).to.equal('many_get_r7_by_id');
    const described = await callTool(setup.host, 'describe_tool', '{"name":"many_get_r7_by_id"}');
    expect(described.content[0]?.text).to.include('"required":["id"]');
    const call = '{"name":"many_get_r7_by_id","arguments":{"id":1.0}}';
    expect((await callTool(setup.host, 'call_tool', call)).isError).to.equal(undefined);
    expect(setup.provider.only().target).to.equal('/r7/1.0');
    const none = await callTool(setup.host, 'search_tools', '{"query":"r7"}', {
      as: 'dev-service:other',
    });
    expect(none.content[0]?.text).to.equal('{"tools":[]}');
    const hidden = await callTool(setup.host, 'describe_tool', '{"name":"many_get_r7_by_id"}', {
      as: 'dev-service:other',
    });
    expect(problemOf(hidden)).to.include({ code: 'validation_failed' });
    const denied = await callTool(setup.host, 'call_tool', call, { as: 'dev-service:other' });
    expect(problemOf(denied)).to.include({ code: 'forbidden' });
  });

  it('read at most 1,000 tokens of many tools before their first call', async () => {
    await addMany();
    const client = await connect('/mcp');
    const { tools } = await client.listTools();
    expect(tools).to.have.length(4);
    const read = [client.getInstructions(), client.getServerVersion(), tools];
    expect(countTokens(JSON.stringify(read))).to.be.within(50, 1000);
    await client.close();
  });
});

describe('clients of the surface mcp, with schemas that are `true` or `false`', () => {
  const inputSchema = {
    type: 'object',
    properties: { any: true, none: false, part: { anyOf: [true, { type: 'null' }] } },
    additionalProperties: false,
  };
  const route = (method: string, name: string, operation: object): RouteOptions => {
    return { method, path: `/${name}`, capability: 'shop.read', operation };
  };
  const routes = [
    route('POST', 'members', { input_schema: inputSchema }),
    route('POST', 'any', { input_schema: true }),
    route('GET', 'query', { query_schema: { properties: { any: true, none: false } } }),
    route('GET', 'items/{id}', { path_params_schema: { properties: { id: true } } }),
  ];
  const mcp = { expose: 'all', approve: 'never' };
  const setup = useHost(
    ({ url }) => ({ 'shop.json': describeModule('shop', url, routes, { mcp }) }),
    {
      args: ['--surfaces', 'mcp'],
    },
  );

  for (const [generation, open] of [
    ['2.x', connectClient],
    ['1.x', connectFirstClient],
  ] as const) {
    it(`list all tools with the official library ${generation}`, async () => {
      const client = await open(`${setup.host.url}/mcp`, READER);
      const { tools } = await client.listTools();
      expect(tools).to.have.length(routes.length);
      const members = tools.find(({ name }) => name === 'shop_post_members');
      expect(members?.inputSchema.properties?.['body']).to.deep.equal({
        type: 'object',
        properties: { any: {}, none: { not: {} }, part: { anyOf: [{}, { type: 'null' }] } },
        additionalProperties: false,
      });
      await client.close();
    });
  }
});
