import { expect } from 'chai';
import { headerValue } from '../../../core/selftest/raw-http.js';
import { call, JSON_TYPE, parseJson } from '../../support/http/call.js';
import { expectProblem } from '../../support/http/expect-problem.js';
import { describeModule } from '../../support/http/modules.js';
import { useHost } from '../../support/http/use-host.js';
import { callTool, listTools, postMcp, problemOf, REVISIONS } from '../../support/mcp/mcp-call.js';

const READER = 'dev-service:agent:shop.read';

const ITEM = {
  type: 'object',
  properties: {
    id: { type: 'integer' },
    parts: { type: 'array', items: { $ref: '#' } },
    tags: { type: ['array', 'null'] },
    notes: { type: 'array', items: true },
  },
};

const ROUTES = [
  {
    method: 'GET',
    path: '/items/{id}',
    capability: 'shop.read',
    summary: 'Reads an item.',
    operation: {
      operation_id: 'get_item',
      query_schema: { type: 'object', properties: { id: { type: 'integer' }, tag: true } },
    },
  },
  { method: 'GET', path: '/files/{path...}', capability: 'shop.read' },
  {
    method: 'POST',
    path: '/items',
    capability: 'shop.write',
    operation: { operation_id: 'add.item', input_schema: { $ref: 'manifest:schemas/Item' } },
  },
  { method: 'DELETE', path: '/items/{id}', capability: 'shop.write' },
  { method: 'GET', path: '/secret' },
];

function describeShop(url: string, overrides: object): object {
  const shop = describeModule('shop', url, ROUTES, overrides) as { manifest: { inline: object } };
  Object.assign(shop.manifest.inline, { schemas: { Item: ITEM } });
  return shop;
}

describe('tools of the surface mcp', () => {
  const setup = useHost(
    ({ url }) => ({
      'shop.json': describeShop(url, { mcp: { expose: 'all', approve: 'never' } }),
      'open.json': {
        ...describeModule('acme/open', url, ROUTES.slice(0, 2)),
        mcp: { expose: 'read', only: ['get_item'] },
      },
      'closed.json': describeModule('closed', url, ROUTES),
      'raw.json': describeModule('raw', url, ROUTES.slice(0, 1), {
        mcp: { expose: 'read' },
        responses: { mode: 'raw' },
      }),
    }),
    { args: ['--surfaces', 'mcp'] },
  );
  const message = (method: string) => ({ jsonrpc: '2.0', id: 1, method });
  /** Names no revision of the protocol, like a simple client. */
  const postMessages = (accept: string | null, body: object) =>
    call(setup.host, {
      method: 'POST',
      target: '/mcp/shop',
      headers: [JSON_TYPE, ...(accept === null ? [] : [['accept', accept] as const])],
      body: Buffer.from(JSON.stringify(body)),
    });
  const names = async (as: string, module: string | null = null) =>
    (await listTools(setup.host, { as, module })).map(({ name }) => name);

  it('are those that the caller may call', async () => {
    const read = ['acme_open_get_item', 'raw_get_item', 'shop_get_item', 'shop_get_files_by_path'];
    expect(await names(READER)).to.deep.equal(read);
    expect(await names('dev-service:agent')).to.deep.equal([]);
    expect(await names('dev-user:ann:shop.read')).to.deep.equal([]);
    const all = [
      'shop_get_item',
      'shop_get_files_by_path',
      'shop_add_item',
      'shop_delete_items_by_id',
    ];
    expect(await names('dev-system:root', 'shop')).to.deep.equal(all);
    expect(await names(READER, 'acme/open')).to.deep.equal(['acme_open_get_item']);
    expect(await names(READER, 'closed')).to.deep.equal([]);
  });

  for (const revision of REVISIONS) {
    it(`are listed and called in the revision ${revision}`, async () => {
      const { host, provider } = setup;
      const [tool] = await listTools(host, { as: READER, module: 'shop', revision });
      expect(tool?.name).to.equal('shop_get_item');
      provider.answer({ body: '{"id": 1.0}' });
      const result = await callTool(host, 'shop_get_item', '{"path_id":"7"}', { revision });
      expect(result.content).to.deep.equal([{ type: 'text', text: '{"id": 1.0}' }]);
    });
  }

  it('have the schemas of their arguments, and hints', async () => {
    const [get, , add] = await listTools(setup.host, { module: 'shop' });
    expect(get?.inputSchema).to.deep.equal({
      type: 'object',
      required: ['path_id'],
      properties: {
        path_id: { type: 'string', minLength: 1, description: 'Sent in the path as `id`.' },
        query_id: { type: 'integer', description: 'Sent in the query as `id`.' },
        tag: {},
      },
      additionalProperties: false,
    });
    expect(get?.annotations).to.include({ readOnlyHint: true, destructiveHint: false });
    expect(add?.annotations).to.include({ readOnlyHint: false, destructiveHint: true });
    expect(get?.description).to.match(/^Reads an item\.\n\n\(GET \/items\/\{id\} of module shop/);
    const shared = { $ref: '#/$defs/shared:Item' };
    expect(add?.inputSchema).to.deep.include({ required: ['body'], properties: { body: shared } });
    const parts = { type: 'array', items: shared };
    expect(add?.inputSchema['$defs']).to.deep.equal({
      'shared:Item': {
        type: 'object',
        properties: {
          id: { type: 'integer' },
          parts,
          // APIs of models reject a list that says nothing of its items.
          tags: { type: ['array', 'null'], items: {} },
          notes: { type: 'array', items: {} },
        },
      },
    });
  });

  it('send values as they were written, each in its place', async () => {
    const { host, provider } = setup;
    await callTool(host, 'shop_get_item', '{"path_id":"a/b?c","query_id":1.50,"tag":["x","&y"]}');
    expect(provider.requests).to.deep.equal([]);
    await callTool(host, 'shop_get_item', '{"path_id":"a b&c","query_id":15,"tag":"&y=1"}');
    expect(provider.only().target).to.equal('/items/a%20b%26c?id=15&tag=%26y%3D1');
    provider.reset();
    await callTool(host, 'shop_get_files_by_path', '{"path":"a/b c"}');
    expect(provider.only().target).to.equal('/files/a/b%20c');
    provider.reset();
    await callTool(
      host,
      'shop_add_item',
      '{"body": {"id" :1.0e1,\n"n":[0.1, 12345678901234567890e-1]}}',
    );
    expect(provider.requests).to.deep.equal([]);
    await callTool(host, 'shop_add_item', '{"body": {"id" :1.0e1,\n"n":[0.1, 100e-2]} }');
    expect(provider.only().body.toString()).to.equal('{"id" :1.0e1,\n"n":[0.1, 100e-2]}');
  });

  for (const [reason, text] of [
    ['a number that changes', '{"body":{"id":9007199254740993}}'],
    ['a number that is too large', '{"body":{"id":1e400}}'],
    ['unknown arguments', '{"body":{},"more":1}'],
    ['missing arguments', '{}'],
  ] as const) {
    it(`reject ${reason}`, async () => {
      const problem = problemOf(await callTool(setup.host, 'shop_add_item', text));
      expect(problem).to.include({ code: 'validation_failed' });
      expect(setup.provider.requests).to.deep.equal([]);
    });
  }

  for (const text of ['"../x"', '"."', '""', '"a/../b"', 'null', '{}', '"\\ud800"']) {
    it(`reject ${text} as a value of a path`, async () => {
      for (const name of ['shop_get_item', 'shop_get_files_by_path']) {
        const argument = name === 'shop_get_item' ? 'path_id' : 'path';
        const result = await callTool(setup.host, name, `{"${argument}":${text}}`);
        expect(result.isError, name).to.equal(true);
      }
      expect(setup.provider.requests).to.deep.equal([]);
    });
  }

  it('reject messages with two members of one name', async () => {
    const params = '"name":"shop_add_item","arguments":{"body":{"id":1,"id":2}}';
    const { status, body } = await postMcp(setup.host, { method: 'tools/call', params });
    expect(status, body.toString()).to.equal(400);
    expect(setup.provider.requests).to.deep.equal([]);
  });

  it('give results byte for byte', async () => {
    for (const body of [
      '{"id":9007199254740993}',
      '{"a":1,"a":2}',
      '[1,\n2.0]',
      '"\\u00e9é😀\u2028"',
    ]) {
      setup.provider.answer({ body });
      const result = await callTool(setup.host, 'shop_get_item', '{"path_id":"1"}');
      expect(result).to.deep.include({ content: [{ type: 'text', text: body }] });
      expect(result).not.to.have.property('structuredContent');
    }
  });

  it('give Problems as errors', async () => {
    const denied = await callTool(setup.host, 'shop_add_item', '{"body":{}}', { as: READER });
    const problem = problemOf(denied);
    expect(problem).to.include({ code: 'forbidden', detail: 'a declared capability is required' });
    expect(problem['request_id']).to.match(/^req_/);
    expect(problem['next_actions']).to.deep.equal(['ask for the scope shop.write']);
    setup.provider.answer({ status: 500 });
    const failed = await callTool(setup.host, 'shop_get_item', '{"path_id":"1"}');
    expect(problemOf(failed)).to.include({ code: 'external_dependency_failure' });
  });

  it("give the provider's text of an error in raw mode", async () => {
    setup.provider.answer({ status: 409, body: '{"why":"taken"}' });
    const result = await callTool(setup.host, 'raw_get_item', '{"path_id":"1"}');
    expect(result.isError).to.equal(true);
    expect(result.content[0]?.text).to.equal('{"why":"taken"}');
    const invalid = await callTool(setup.host, 'raw_get_item', '{"path_id":"1","query_id":"x"}');
    expect(problemOf(invalid)).to.include({ code: 'validation_failed' });
  });

  it('are not those of another module, and not unknown', async () => {
    for (const name of ['raw_get_item', 'shop_nothing', 'closed_get_item']) {
      const params = `"name":"${name}","arguments":{"path_id":"1"}`;
      const request = { method: 'tools/call', params, module: 'shop' };
      expect((await postMcp(setup.host, request)).body.toString()).to.include('Unknown tool');
    }
  });

  it('are calls of the surface in the records', async () => {
    await callTool(setup.host, 'shop_get_item', '{"path_id":"77"}', { as: READER });
    const calls = parseJson(await call(setup.host, { target: '/calls?module=shop&limit=1' }));
    const [record] = calls['calls'] as Record<string, unknown>[];
    expect(record).to.include({ surface: 'mcp', actor: 'service:agent', method: 'GET' });
  });

  it('need credentials, and no page of another origin', async () => {
    expect((await postMcp(setup.host, { method: 'tools/list', as: null })).status).to.equal(401);
    const headers = [['origin', 'https://evil.example']] as const;
    expectProblem(await postMcp(setup.host, { method: 'tools/list', headers }), 403);
    const ownOrigin = [['origin', setup.host.url]] as const;
    expect(
      (await postMcp(setup.host, { method: 'tools/list', headers: ownOrigin })).status,
    ).to.equal(200);
  });

  it('are listed in a type that the client accepts, by name or by a range', async () => {
    const list = async (accept: string | null) => {
      const { status, headers } = await postMessages(accept, message('tools/list'));
      return status === 200 ? headerValue(headers, 'content-type') : status;
    };
    for (const accept of [
      null,
      '*/*',
      'text/html, */*;q=0.1',
      'application/*, text/*',
      'Application/JSON;q=0.9 , Text/Event-Stream',
    ]) {
      expect(await list(accept), String(accept)).to.equal('text/event-stream');
    }
    expect(await list('text/event-stream')).to.equal('text/event-stream');
    for (const accept of ['application/json', 'application/*', 'application/json, */*;q=0.0']) {
      expect(await list(accept), accept).to.equal('application/json');
    }
    for (const accept of ['text/html', 'text/plain;q=0.5']) {
      expect(await list(accept), accept).to.equal(406);
    }
  });

  it('have no stream of older revisions', async () => {
    const headers = [['accept', 'text/event-stream']] as const;
    const response = await call(setup.host, { target: '/mcp', headers });
    expect(response.status).to.equal(405);
    expect(headerValue(response.headers, 'content-type')).to.include('json');
    expectProblem(await call(setup.host, { target: '/mcp/a/b' }), 404);
  });
});
