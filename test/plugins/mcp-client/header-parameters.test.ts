import { expect } from 'chai';
import { startMcpServer, type TestTool } from '../../support/mcp/mcp-server.js';
import { describeTools } from '../../support/mcp/tools-module.js';
import { startHost } from '../../support/start-host.js';
import { use } from '../../support/use.js';

const property = (type: string, header: unknown) => ({ type, 'x-mcp-header': header });
const schema = (properties: object, more: object = {}) => ({
  type: 'object',
  properties,
  ...more,
});

/** The schemas of tools whose headers the protocol forbids. */
const WRONG: Readonly<Record<string, object>> = {
  empty: schema({ a: property('string', '') }),
  number: schema({ a: property('number', 'A') }),
  object: schema({ a: property('object', 'A') }),
  'line-break': schema({ a: property('string', 'A\r\nX: 1') }),
  twice: schema({ a: property('string', 'A'), b: property('string', 'a') }),
  'no-text': schema({ a: property('string', 7) }),
  'in-items': schema({ a: { type: 'array', items: property('string', 'A') } }),
  'in-choice': schema({}, { anyOf: [schema({ a: property('string', 'A') })] }),
  root: { type: 'object', 'x-mcp-header': 'A' },
};

const GOOD = schema({
  region: property('string', 'Region'),
  deep: schema({ count: property('integer', 'Count') }),
  text: { type: 'string', default: 'x-mcp-header' },
  'x-mcp-header': { type: 'string', enum: ['a'] },
});

const call = () => ({ content: [] });
const TOOLS: readonly TestTool[] = [
  { name: 'good', inputSchema: GOOD, call },
  ...Object.entries(WRONG).map(([name, inputSchema]) => ({ name, inputSchema, call })),
];

describe('arguments that are repeated in headers', () => {
  const server = use(() => startMcpServer(() => TOOLS));
  const host = use(() =>
    startHost({
      files: {
        'tools.yaml': describeTools(
          { url: server.url },
          TOOLS.map(({ name }) => name),
          { breaker: { failures: 1000 } },
        ),
      },
    }),
  );

  const post = async (name: string, body: string) => {
    const response = await fetch(`${host.url}/modules/tools/http/tools/${name}`, {
      method: 'POST',
      headers: {
        authorization: 'Bearer dev-service:test:tools.use',
        'content-type': 'application/json',
        'mcp-param-region': 'of the caller',
      },
      body,
    });
    // biome-ignore lint/suspicious/noExplicitAny: the envelope or a Problem
    const { errors = [] }: any = await response.json();
    const failure = errors.find(({ field }: { field: string }) => field === 'failure')?.reason;
    return { status: response.status, failure };
  };
  const calls = () => server.requests.filter(({ text }) => text.includes('"method":"tools/call"'));

  it('are sent in both, and not taken from headers of the caller', async () => {
    const input = '{"region": "eu\\r\\nx: 1", "deep": {"count": 7}, "text": "é"}';
    expect(await post('good', input)).to.include({ status: 200 });
    const { headers = {}, text } = calls().at(-1) ?? {};
    const region = `=?base64?${Buffer.from('eu\r\nx: 1').toString('base64')}?=`;
    expect(headers).to.include({ 'mcp-param-region': region, 'mcp-param-count': '7' });
    expect(text).to.include(`"arguments":${input}`);
  });

  it('are left out of the headers where the caller gives none', async () => {
    expect(await post('good', '{"text": "a"}')).to.include({ status: 200 });
    expect(calls().at(-1)?.headers).to.not.have.any.keys('mcp-param-region', 'mcp-param-count');
  });

  for (const name of Object.keys(WRONG)) {
    it(`make a tool unusable that declares them wrongly: ${name}`, async () => {
      const before = calls().length;
      expect(await post(name, '{}')).to.deep.equal({ status: 502, failure: 'protocol' });
      expect(calls().length).to.equal(before);
    });
  }
});
