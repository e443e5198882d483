import { expect } from 'chai';
import { useHost } from '../../support/http/use-host.js';
import { waitUntil } from '../../support/http/wait-until.js';
import { MODERN } from '../../support/mcp/mcp-call.js';

const MAX_PER_ACTOR = 256;

describe('subscriptions of the surface mcp', () => {
  const setup = useHost(() => ({}), { args: ['--surfaces', 'mcp'], isDescribed: false });
  const method = 'subscriptions/listen';
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': MODERN,
    'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
    'io.modelcontextprotocol/clientCapabilities': {},
  };
  const listen = (actor: string, notifications: object = { toolsListChanged: true }) =>
    fetch(`${setup.host.url}/mcp`, {
      method: 'POST',
      headers: {
        ...{
          authorization: `Bearer dev-user:${actor}:any.use`,
          'content-type': 'application/json',
        },
        ...{ accept: 'application/json, text/event-stream' },
        ...{ 'mcp-protocol-version': MODERN, 'mcp-method': method },
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: { _meta, notifications } }),
    });

  it('are limited for each actor, and count until they end', async () => {
    for (let count = 0; count < 2; count += 1) await (await listen('ada', {})).text();
    const open = await Promise.all(Array.from({ length: MAX_PER_ACTOR }, () => listen('ada')));
    expect(new Set(open.map(({ status }) => status))).to.deep.equal(new Set([200]));
    const rejected = await listen('ada');
    expect(rejected.status).to.equal(429);
    expect(await rejected.json()).to.deep.include({ code: 'rate_limited' });
    const other = await listen('ben');
    expect(other.headers.get('content-type')).to.equal('text/event-stream');
    await open[0]?.body?.cancel();
    await waitUntil('another one may begin', async () => {
      const next = await listen('ada');
      if (next.status === 200) open.push(next);
      else await next.body?.cancel();
      return next.status === 200;
    });
    for (const response of [...open.slice(1), other]) await response.body?.cancel();
  });

  it('are not counted for the messages of a batch, which cannot open any', async () => {
    const open = await Promise.all(Array.from({ length: MAX_PER_ACTOR }, () => listen('cem')));
    expect((await listen('cem')).status).to.equal(429);
    const response = await fetch(`${setup.host.url}/mcp`, {
      method: 'POST',
      headers: {
        ...{ authorization: 'Bearer dev-user:cem:any.use', 'content-type': 'application/json' },
        ...{ accept: 'application/json', 'mcp-protocol-version': '2025-03-26' },
      },
      body: JSON.stringify([1, 2].map((id) => ({ jsonrpc: '2.0', id, method, params: {} }))),
    });
    expect(response.status).to.equal(200);
    const errors = (await response.json()) as { error: { code: number } }[];
    expect(errors.map(({ error }) => error.code)).to.deep.equal([-32_601, -32_601]);
    for (const { body } of open) await body?.cancel();
  });
});
