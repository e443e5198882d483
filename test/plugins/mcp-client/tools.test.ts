import { expect } from 'chai';
import { startMcpServer, type TestTool } from '../../support/mcp/mcp-server.js';
import { startHost } from '../../support/start-host.js';
import { use } from '../../support/use.js';

const TOKEN = 'Bearer dev-service:test:tools.use';

const TOOLS: readonly TestTool[] = [
  {
    name: 'add',
    call: ({ a, b }) => ({
      content: [{ type: 'text', text: `${Number(a) + Number(b)}` }],
      structuredContent: { sum: Number(a) + Number(b) },
    }),
  },
  { name: 'fail', call: () => ({ content: [{ type: 'text', text: 'no' }], isError: true }) },
  {
    name: 'reject',
    call: () => {
      throw Object.assign(new Error('a must be positive'), { code: -32_602 });
    },
  },
  {
    name: 'break',
    call: () => {
      throw Object.assign(new Error('disk is full'), { code: -32_603 });
    },
  },
];

const manifest = {
  protocol: 'modgate.manifest.v1',
  module_id: 'tools',
  capabilities: ['tools.use'],
  http_routes: [...TOOLS.map(({ name }) => name), 'gone'].map((name) => ({
    method: 'POST',
    path: `/tools/${name}`,
    capability: 'tools.use',
  })),
};

const describeModule = (url: string, more: object = {}) => ({
  apiVersion: 'modgate/v1',
  module: 'tools',
  provider: { kind: 'mcp', config: { url } },
  manifest: './manifest.json',
  ...more,
});

describe('tools of an MCP server', () => {
  for (const mode of ['stateless', 'sessions'] as const) {
    describe(`over Streamable HTTP, ${mode}`, () => {
      const server = use(() => startMcpServer(() => TOOLS, { mode }));
      const host = use(() =>
        startHost({
          files: {
            'tools.yaml': describeModule(server.url),
            'raw.yaml': describeModule(server.url, {
              module: 'open',
              provider_errors: 'passthrough',
            }),
            'manifest.json': manifest,
          },
        }),
      );

      const call = async (name: string, body: unknown, module = 'tools') => {
        const response = await fetch(`${host.url}/modules/${module}/http/tools/${name}`, {
          method: 'POST',
          headers: { authorization: TOKEN, 'content-type': 'application/json' },
          body: typeof body === 'string' ? body : JSON.stringify(body),
        });
        const text = await response.text();
        return { status: response.status, text, json: JSON.parse(text) };
      };

      it('answers with the result', async () => {
        const { status, json } = await call('add', { a: 2, b: 3 });
        expect([status, json.data], JSON.stringify(json)).to.deep.equal([
          200,
          { ...json.data, content: [{ type: 'text', text: '5' }], structuredContent: { sum: 5 } },
        ]);
      });

      it('answers with an error of a tool as its result', async () => {
        const { status, json } = await call('fail', {});
        expect([status, json.data.isError]).to.deep.equal([200, true]);
      });

      it('rejects arguments that are not an object, and sends nothing', async () => {
        const sent = server.requests.length;
        const { status, json } = await call('fail', '[1]');
        expect([status, json.code, json.errors]).to.deep.equal([
          400,
          'validation_failed',
          [{ field: '', reason: 'must be an object' }],
        ]);
        expect(server.requests.length).to.equal(sent);
      });

      it('answers for an error of the protocol as for an error status of a provider', async () => {
        const rejected = await call('reject', {}, 'open');
        expect([rejected.status, rejected.json.detail]).to.deep.equal([400, 'a must be positive']);
        const broken = await call('break', {});
        expect([broken.status, broken.json.errors.at(-1)]).to.deep.equal([
          502,
          { field: 'provider_status', reason: '500' },
        ]);
      });

      it('sends the arguments in the bytes of the caller', async () => {
        await call('add', '{"a": 12345678901234567890, "b": 1.10}');
        expect(server.requests.at(-1)?.text).to.include(
          '"arguments":{"a": 12345678901234567890, "b": 1.10}',
        );
      });
    });
  }
});
