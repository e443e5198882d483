import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { expect } from 'chai';
import { headerValue } from '../../../core/selftest/raw-http.js';
import { call, parseJson } from '../../support/http/call.js';
import { expectProblem } from '../../support/http/expect-problem.js';
import { describeModule, type RouteOptions } from '../../support/http/modules.js';
import { useHost } from '../../support/http/use-host.js';
import { waitUntil } from '../../support/http/wait-until.js';
import { callTool, listTools, postMcp } from '../../support/mcp/mcp-call.js';

const ROUTES: readonly RouteOptions[] = [
  {
    method: 'GET',
    path: '/items/{id}',
    capability: 'shop.read',
    operation: { operation_id: 'get_item', output_schema: { type: 'object' } },
  },
];

describe('clients of the surface mcp', () => {
  const describeShop = (url: string, routes = ROUTES) =>
    describeModule('shop', url, routes, { mcp: { expose: 'all', approve: 'never' } });
  const setup = useHost(({ url }) => ({ 'shop.json': describeShop(url) }), {
    args: ['--surfaces', 'mcp'],
  });

  const connect = async (mode: 'auto' | 'legacy', target = '/mcp') => {
    const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode } });
    const headers = { authorization: 'Bearer dev-service:agent:shop.read' };
    const url = new URL(setup.host.url + target);
    await client.connect(new StreamableHTTPClientTransport(url, { requestInit: { headers } }));
    return client;
  };

  for (const mode of ['auto', 'legacy'] as const) {
    it(`list and call tools with the official library (${mode})`, async () => {
      const client = await connect(mode, '/mcp/shop');
      const { tools } = await client.listTools();
      expect(tools.map(({ name }) => name)).to.deep.equal(['shop_get_item']);
      setup.provider.answer({ body: '{"id":7}' });
      const result = await client.callTool({ name: 'shop_get_item', arguments: { id: '7' } });
      expect(result.structuredContent).to.deep.equal({ id: 7 });
      await client.close();
    });
  }

  it('find out from a 401 where to sign in', async () => {
    const response = await postMcp(setup.host, { method: 'tools/list', as: null, module: 'shop' });
    expect(response.status).to.equal(401);
    const challenge = headerValue(response.headers, 'www-authenticate') ?? '';
    const named = /resource_metadata="([^"]*)"/.exec(challenge)?.[1] ?? '';
    const origin = `http://127.0.0.1:${setup.host.port}`;
    expect(named).to.equal(`${origin}/.well-known/oauth-protected-resource/mcp/shop`);
    const target = named.slice(origin.length);
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

  it('get three tools instead of more than forty', async () => {
    const routes = Array.from({ length: 41 }, (_, index) => ({
      method: 'GET',
      path: `/r${index}/{id}`,
      capability: 'shop.read',
      ...(index === 7 && { summary: 'Weighs a parcel.' }),
    }));
    setup.host.drop('many.json', {
      ...describeModule('many', setup.provider.url, routes, { mcp: { expose: 'read' } }),
    });
    await waitUntil('the tools are many', async () => (await listTools(setup.host)).length === 3);
    const tools = await listTools(setup.host);
    const names = tools.map(({ name }) => name);
    expect(names).to.deep.equal(['search_tools', 'describe_tool', 'call_tool']);
    expect(await listTools(setup.host, { module: 'many' })).to.have.length(41);
    const search = await callTool(setup.host, 'search_tools', '{"query":"weigh parcels parcel"}');
    const found = JSON.parse(search.content[0]?.text ?? '') as { tools: { name: string }[] };
    expect(found.tools[0]?.name).to.equal('many_get_r7_by_id');
    const described = await callTool(setup.host, 'describe_tool', '{"name":"many_get_r7_by_id"}');
    expect(described.content[0]?.text).to.include('"required":["id"]');
    const given = '{"name":"many_get_r7_by_id","arguments":{"id":1.0}}';
    expect((await callTool(setup.host, 'call_tool', given)).isError).to.equal(undefined);
    expect(setup.provider.only().target).to.equal('/r7/1.0');
    const none = await callTool(setup.host, 'search_tools', '{"query":"x"}', {
      as: 'dev-service:nobody',
    });
    expect(none.isError ?? (await listTools(setup.host, { as: 'dev-service:nobody' }))).to.be.ok;
  });
});
