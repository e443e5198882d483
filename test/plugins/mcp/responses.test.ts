import { expect } from 'chai';
import { ROOT } from '../../support/http/call.js';
import { describeModule } from '../../support/http/modules.js';
import { useHost } from '../../support/http/use-host.js';
import { MODERN, parseRpc } from '../../support/mcp/mcp-call.js';

/** Its argument is `path_id`, since a parameter of the query has the name as well. */
const ROUTE = {
  method: 'GET',
  path: '/items/{id}',
  capability: 'shop.read',
  operation: {
    operation_id: 'get_item',
    query_schema: { type: 'object', properties: { id: { type: 'integer' } } },
  },
};

describe('responses of the surface mcp', () => {
  const setup = useHost(
    ({ url }) => ({
      'shop.json': describeModule('shop', url, [ROUTE], {
        mcp: { expose: 'all' },
        limits: { timeout_ms: 60_000 },
      }),
    }),
    { args: ['--surfaces', 'mcp'] },
  );
  const message = (id: number, method: string, params?: object) => {
    return { jsonrpc: '2.0', id, method, ...(params && { params }) };
  };
  const get = (id: number, meta: object = { progressToken: 1 }) =>
    message(id, 'tools/call', {
      ...{ name: 'shop_get_item', arguments: { path_id: '7' } },
      _meta: meta,
    });
  const post = (body: object, headers: Readonly<Record<string, string>> = {}) =>
    fetch(`${setup.host.url}/mcp/shop`, {
      method: 'POST',
      headers: {
        ...{ authorization: `Bearer ${ROOT}`, 'content-type': 'application/json' },
        ...{ accept: 'application/json', ...headers },
      },
      body: JSON.stringify(body),
    });
  const MODERN_META = {
    'io.modelcontextprotocol/protocolVersion': MODERN,
    'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
    'io.modelcontextprotocol/clientCapabilities': {},
  };
  const MODERN_HEADERS = {
    ...{ 'mcp-protocol-version': MODERN, 'mcp-method': 'tools/call' },
    'mcp-name': 'shop_get_item',
  };
  const resultOf = (text: string) => ({ content: [{ type: 'text', text }] });
  const OK = resultOf('{"ok":true}');
  /** Lets the provider answer from then on. */
  const hold = () => {
    let release = () => {};
    const after = new Promise<void>((resolve) => {
      release = resolve;
    });
    setup.provider.answer({ after });
    return release;
  };

  it('are JSON for a client that accepts JSON alone', async () => {
    const single = await post(get(1));
    expect(single.headers.get('content-type')).to.equal('application/json');
    expect(await single.json()).to.deep.include({ id: 1, result: OK });
    const batch = await post([get(1), message(2, 'ping'), message(3, 'tools/none')]);
    expect(batch.headers.get('content-type')).to.equal('application/json');
    const [first, second, third] = (await batch.json()) as { error: object }[];
    expect([first, second]).to.deep.equal([
      { jsonrpc: '2.0', id: 1, result: OK },
      { jsonrpc: '2.0', id: 2, result: {} },
    ]);
    expect(third?.error).to.include({ code: -32_601 });
    const unknown = (await (await post(message(1, 'tools/none'))).json()) as { error: object };
    expect(unknown.error).to.include({ code: -32_601 });
    const ping = await post({ ...message(1, 'ping'), params: null });
    expect(await ping.json()).to.deep.equal({ jsonrpc: '2.0', id: 1, result: {} });
  });

  it('have the status 202 for messages without an answer', async () => {
    const notification = { jsonrpc: '2.0', method: 'notifications/initialized' };
    const answer = { jsonrpc: '2.0', id: 1, result: {} };
    for (const body of [notification, answer, [notification], [answer, notification]]) {
      const response = await post(body);
      expect(response.status, JSON.stringify(body)).to.equal(202);
      expect(response.headers.get('content-type')).to.equal(null);
      expect(await response.text()).to.equal('');
    }
  });

  it('have any characters and lengths as JSON', async () => {
    for (const text of ['"\u2028\u2029\u0085\\r\\n\ufeff"', `"${'é\u2028'.repeat(15_000)}"`]) {
      setup.provider.answer({ body: text });
      const single = await post(get(1));
      expect(await single.json()).to.deep.include({ result: resultOf(text) });
      const batch = await post([get(1), get(2)]);
      expect(
        ((await batch.json()) as { result: object }[]).map(({ result }) => result),
      ).to.deep.equal([resultOf(text), resultOf(text)]);
    }
  });

  it('have each result of a batch as soon as it is there, as JSON', async () => {
    const release = hold();
    const response = await post([message(1, 'ping'), get(2)]);
    const reader = response.body?.getReader();
    const { value } = (await reader?.read()) ?? {};
    const first = Buffer.from(value ?? []).toString();
    expect(JSON.parse(`${first}]`)).to.deep.equal([{ jsonrpc: '2.0', id: 1, result: {} }]);
    release();
    let rest = '';
    for (let part = await reader?.read(); part?.done === false; part = await reader?.read()) {
      rest += Buffer.from(part.value).toString();
    }
    expect(JSON.parse(first + rest)[1]).to.deep.include({ id: 2, result: OK });
  });

  // The surface sends something every 10 s, and the host waits 30 s for the head of a response.
  it('begin while a tool runs', async () => {
    const release = hold();
    const accept = 'application/json, text/event-stream';
    const [stream, ...responses] = await Promise.all([
      post(get(1, MODERN_META), { ...MODERN_HEADERS, accept }),
      post(get(1)),
      post(get(1, MODERN_META), MODERN_HEADERS),
      post([get(1), get(2)]),
    ]);
    release();
    expect(stream.headers.get('content-type')).to.equal('text/event-stream');
    const { result } = parseRpc(Buffer.from(await stream.arrayBuffer()));
    expect(result).to.deep.include(OK);
    const texts = await Promise.all(responses.map((response) => response.text()));
    for (const [index, { status, headers }] of responses.entries()) {
      expect(status).to.equal(200);
      expect(headers.get('content-type')).to.equal('application/json');
      expect(texts[index]).to.match(/^ /);
    }
    const [single, modern, batch] = texts.map((text) => JSON.parse(text));
    expect(single).to.deep.include({ id: 1, result: OK });
    expect(modern.result).to.deep.include(OK);
    expect(batch.map(({ result }: { result: object }) => result)).to.deep.equal([OK, OK]);
  });

  it('are a stream for every subscription', async () => {
    const headers = { 'mcp-protocol-version': MODERN, 'mcp-method': 'subscriptions/listen' };
    const response = await post(
      message(1, 'subscriptions/listen', {
        ...{ notifications: { toolsListChanged: true }, _meta: MODERN_META },
      }),
      headers,
    );
    expect(response.headers.get('content-type')).to.equal('text/event-stream');
    await response.body?.cancel();
  });
});
