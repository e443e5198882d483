import { expect } from 'chai';
import { headerValue, type RawHeader } from '../../../core/selftest/raw-http.js';
import { call, JSON_TYPE } from '../../support/http/call.js';
import { describeModule } from '../../support/http/modules.js';
import { useHost } from '../../support/http/use-host.js';
import { callTool, listTools, parseRpc } from '../../support/mcp/mcp-call.js';
import { connectClient } from '../../support/mcp/official-clients.js';

const AGENT = 'dev-service:agent:shop.use';
const REVISION = '2025-03-26';
const ITEM = {
  type: 'object',
  properties: { id: { type: 'string' } },
  required: ['id'],
  additionalProperties: false,
};
const ROUTES = [
  {
    method: 'GET',
    path: '/items/{id}',
    capability: 'shop.use',
    operation: { operation_id: 'get_item', output_schema: ITEM },
  },
];

interface Message {
  readonly id: number | null;
  readonly result?: { readonly tools?: object[]; readonly content?: { readonly text: string }[] };
  readonly error?: { readonly code: number; readonly message: string };
}

describe('the revision 2025-03-26 of mcp', () => {
  const setup = useHost(
    ({ url }) => ({
      'shop.json': describeModule('shop', url, ROUTES, {
        mcp: { expose: 'all' },
        schemas: { output: 'enforce' },
      }),
    }),
    { args: ['--surfaces', 'mcp'], isDescribed: false },
  );

  const post = (body: unknown, revision: string | null = REVISION) => {
    const headers: RawHeader[] = [
      JSON_TYPE,
      ['accept', 'application/json, text/event-stream'],
      ...(revision === null ? [] : [['mcp-protocol-version', revision] as const]),
    ];
    const message = Buffer.from(JSON.stringify(body));
    return call(setup.host, { method: 'POST', target: '/mcp', as: AGENT, body: message, headers });
  };
  /** The messages of a stream of events. */
  const readAll = (body: Buffer) => {
    const texts = [...body.toString().matchAll(/^data: (.*)$/gm)].map(([, data = '']) => data);
    return texts.filter(Boolean).map((data) => JSON.parse(data) as Message);
  };
  const request = (id: number, method: string, params: object = {}) => {
    return { jsonrpc: '2.0', id, method, params };
  };
  const get = (id: number) =>
    request(id, 'tools/call', { name: 'shop_get_item', arguments: { id: String(id) } });

  it('is served to an official client', async () => {
    const client = await connectClient(`${setup.host.url}/mcp`, AGENT, {
      ...{ mode: 'legacy', revision: REVISION },
    });
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).to.deep.equal(['shop_get_item']);
    setup.provider.answer({ body: '{"id":"7"}' });
    const result = await client.callTool({ name: 'shop_get_item', arguments: { id: '7' } });
    expect(result.content).to.deep.equal([{ type: 'text', text: '{"id":"7"}' }]);
    await client.close();
  });

  it('has neither schemas of results nor structured content', async () => {
    setup.provider.answer({ body: '{"id":"7"}' });
    const read = async (revision: string | null) => {
      const listed = parseRpc((await post(request(1, 'tools/list'), revision)).body).result;
      const called = parseRpc((await post(get(2), revision)).body).result;
      return JSON.stringify([listed, called]);
    };
    for (const revision of [REVISION, null]) {
      expect(await read(revision)).not.to.match(/outputSchema|structuredContent/);
    }
    expect(await read('2025-06-18')).to.match(/outputSchema.*structuredContent/);
    const [tool] = await listTools(setup.host, { as: AGENT });
    expect(tool).to.have.property('outputSchema');
    const result = await callTool(setup.host, 'shop_get_item', '{"id":"1"}', { as: AGENT });
    expect(result.structuredContent).to.deep.equal({ id: '7' });
  });

  it('answers each message of a batch', async () => {
    const warnings: string[] = [];
    const onWarning = ({ message }: Error) => warnings.push(message);
    process.on('warning', onWarning);
    setup.provider.answer({ body: '{"id":"7"}' });
    const notification = { jsonrpc: '2.0', method: 'notifications/initialized' };
    const calls = Array.from({ length: 17 }, (_, index) => get(index + 10));
    const batch = [request(1, 'tools/list'), notification, ...calls, request(99, 'unknown')];
    for (const revision of [REVISION, null]) {
      const response = await post(batch, revision);
      expect(response.status).to.equal(200);
      expect(headerValue(response.headers, 'content-type')).to.equal('text/event-stream');
      const messages = readAll(response.body);
      const ids = batch.flatMap((message) => ('id' in message ? [message.id] : []));
      expect(messages.map(({ id }) => id)).to.deep.equal(ids);
      expect(messages[0]?.result?.tools).to.have.length(1);
      expect(messages[1]?.result?.content?.[0]?.text).to.equal('{"id":"7"}');
      expect(messages.at(-1)?.error).to.include({ code: -32_601 });
    }
    const targets = setup.provider.requests.map(({ target }) => target);
    expect(targets.slice(0, 17)).to.deep.equal(calls.map(({ id }) => `/items/${id}`));
    process.off('warning', onWarning);
    expect(warnings).to.deep.equal([]);
    const none = await post([notification, notification]);
    expect(none.status).to.equal(202);
    expect(none.body).to.have.length(0);
    const answered = await post([notification, { jsonrpc: '2.0', id: 1, result: {} }]);
    expect(answered.status).to.equal(202);
  });

  it('answers an invalid message of a batch with an error', async () => {
    const { status, body } = await post([1, request(2, 'tools/list'), { jsonrpc: '2.0', id: 3 }]);
    expect(status).to.equal(200);
    const messages = readAll(body);
    expect(messages.find(({ id }) => id === 2)).to.have.property('result');
    expect(messages.filter(({ error }) => error !== undefined)).to.have.length(2);
    const alone = await post([1]);
    expect(readAll(alone.body)[0]?.error).to.include({ code: -32_600 });
  });

  it('rejects other batches', async () => {
    const list = request(1, 'tools/list');
    const initialize = request(2, 'initialize');
    const rejected: readonly (readonly [unknown[], string | null, RegExp])[] = [
      [[], REVISION, /no message/],
      [Array.from({ length: 21 }, () => list), REVISION, /more than 20 messages/],
      [[list, initialize], REVISION, /initialize/],
      [[list], '2025-06-18', /2025-06-18 has no batches/],
      [[list], '2026-07-28', /no batches/],
      [[request(1, 'x', { _meta: { a: Array(1000).fill(0) } })], REVISION, /1000 values/],
    ];
    for (const [batch, revision, reason] of rejected) {
      const response = await post(batch, revision);
      expect(response.status).to.equal(400);
      expect(parseRpc(response.body).error?.message).to.match(reason);
    }
  });
});
