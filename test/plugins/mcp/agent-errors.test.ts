import { expect } from 'chai';
import { describeModule } from '../../support/http/modules.js';
import { useHost } from '../../support/http/use-host.js';
import { callTool, problemOf } from '../../support/mcp/mcp-call.js';

const AGENT = 'dev-service:agent:shop.use';
const INTEGER = { type: 'object', properties: { n: { type: 'integer' } } };
const ROUTES = [
  {
    method: 'POST',
    path: '/items/{size}',
    capability: 'shop.use',
    operation: {
      operation_id: 'add',
      danger_level: 'low',
      input_schema: {
        type: 'object',
        properties: { n: { type: 'integer' }, items: { items: INTEGER } },
      },
      query_schema: {
        type: 'object',
        properties: { size: { type: 'integer' }, page: { type: 'integer' } },
      },
    },
  },
];
const ADMIN = {
  actions: [
    {
      name: 'merge',
      capability: 'shop.use',
      invoke_path: '/merge',
      input_schema: { fields: [{ name: 'n', type: 'integer', required: true }] },
    },
  ],
  entities: [{ name: 'people', read_capability: 'shop.use', list_path: '/people' }],
};

describe('errors of tools', () => {
  const setup = useHost(
    ({ url }) => {
      const shop = describeModule('shop', url, ROUTES, { mcp: { expose: 'all' } });
      Object.assign((shop as { manifest: { inline: object } }).manifest.inline, { admin: ADMIN });
      return { 'shop.json': shop };
    },
    { args: ['--surfaces', 'mcp'], isDescribed: false },
  );

  const fail = async (tool: string, text: string) => {
    const problem = problemOf(await callTool(setup.host, tool, text, { as: AGENT }));
    expect(setup.provider.requests).to.deep.equal([]);
    return problem as { code: string; detail: string; errors: object[]; next_actions: string[] };
  };

  for (const [tool, text, field] of [
    ['shop_add', '{"path_size":"1","body":{"n":"x"}}', 'body/n'],
    ['shop_add', '{"path_size":"1","body":{"items":[{"n":1},{"n":"x"}]}}', 'body/items/1/n'],
    ['shop_add', '{"path_size":"1","body":[]}', 'body'],
    ['shop_add', '{"path_size":"1","body":{},"query_size":"x"}', 'query_size'],
    ['shop_add', '{"path_size":"1","body":{},"page":"x"}', 'page'],
    ['shop_merge', '{"body":{"n":"x"}}', 'body.n'],
    ['shop_merge', '{"body":{}}', 'body.n'],
    ['shop_list_people', '{"limit":"x"}', 'limit'],
    ['shop_list_people', '{"cursor":1}', 'cursor'],
  ] as const) {
    it(`name the argument ${field}: ${tool} ${text}`, async () => {
      const { code, detail, errors, next_actions } = await fail(tool, text);
      expect(code).to.equal('validation_failed');
      expect(detail).to.match(new RegExp(`^${tool}: `));
      expect(errors.map((error) => Reflect.get(error, 'field'))).to.deep.equal([field]);
      expect(next_actions.at(-1)).to.include('inputSchema of the tool');
      expect(next_actions.join()).not.to.match(/GET|POST|openapi/);
    });
  }

  it('say that a body is JSON in a string', async () => {
    const { next_actions } = await fail('shop_add', '{"path_size":"1","body":"{\\"n\\":1}"}');
    expect(next_actions[0]).to.equal(
      'send body as a JSON value, not as a string that contains JSON',
    );
    const other = await fail('shop_add', '{"path_size":"1","body":"text"}');
    expect(other.next_actions.join()).not.to.include('string that contains JSON');
  });
});
