import { expect } from 'chai';
import { startEchoProvider } from '../../support/echo-provider.js';
import { call, JSON_TYPE, parseJson } from '../../support/http/call.js';
import { describeModule } from '../../support/http/modules.js';
import { useHost } from '../../support/http/use-host.js';
import { waitUntil } from '../../support/http/wait-until.js';
import { callTool, listTools, problemOf } from '../../support/mcp/mcp-call.js';

const AGENT = 'dev-service:agent:shop.use';
const ANN = 'dev-user:ann:modgate.approvals';
const BODY = '{"body":{"n":1}}';

const ROUTES = [
  {
    method: 'GET',
    path: '/items',
    capability: 'shop.use',
    operation: { query_schema: { type: 'object', properties: { size: { type: 'integer' } } } },
  },
  {
    method: 'DELETE',
    path: '/items/{id}',
    capability: 'shop.use',
    operation: { operation_id: 'remove' },
  },
  {
    method: 'POST',
    path: '/notes',
    capability: 'shop.use',
    operation: { body: 'bytes', body_types: ['text/plain'] },
  },
  {
    method: 'POST',
    path: '/items',
    capability: 'shop.use',
    operation: {
      input_schema: { type: 'object', properties: { n: { type: 'integer' } } },
      query_schema: { type: 'object', properties: { size: { type: 'integer' } } },
    },
  },
  {
    method: 'GET',
    path: '/kept',
    capability: 'shop.use',
    operation: { danger_level: 'high', cache: { ttl_ms: 60_000, shared: true } },
  },
];
const ACTIONS = [
  {
    name: 'merge',
    capability: 'shop.use',
    invoke_path: '/merge',
    input_schema: { fields: [{ name: 'n', type: 'integer', required: true }] },
  },
];

const ENTITIES = [{ name: 'people', read_capability: 'shop.use', list_path: '/people' }];

interface ModuleEntry {
  readonly name: string;
  readonly config_digest: string;
  readonly counts: { readonly failed: number; readonly queued: number };
  readonly endpoints: readonly { readonly calls: number }[];
}

const WAITING = { limits: { concurrency: 1, queue_ms: 60_000 } };

function describeShop(url: string, name: string, more: object = {}): object {
  const shop = describeModule(name, url, ROUTES, { mcp: { expose: 'all' }, ...more });
  const { manifest } = shop as { manifest: { inline: object } };
  Object.assign(manifest.inline, { admin: { actions: ACTIONS, entities: ENTITIES } });
  return shop;
}

describe('an approved call', () => {
  const setup = useHost(
    ({ url }) => ({
      'shop.json': describeShop(url, 'shop'),
      'rare.json': describeShop(url, 'rare', { rate: { actor_per_second: 1, actor_burst: 1 } }),
      'narrow.json': describeShop(url, 'narrow', { limits: { concurrency: 1, queue: 0 } }),
      'waiting.json': describeShop(url, 'waiting', WAITING),
      'changed.json': describeShop(url, 'changed'),
      'always.json': describeShop(url, 'always', {
        mcp: { expose: 'all', approve: 'always' },
        limits: { request_bytes: 1024, bytes: { request: 1024 } },
      }),
    }),
    { args: ['--surfaces', 'mcp'], isDescribed: false },
  );

  const send = async (tool: string, text = BODY): Promise<Record<string, unknown>> => {
    const result = await callTool(setup.host, tool, text, { as: AGENT });
    if (result.isError !== true) return { code: 'called' };
    const problem = problemOf(result);
    const errors = (problem['errors'] ?? []) as { field: string; reason: string }[];
    const failure = errors.find(({ field }) => field === 'failure')?.reason;
    return { ...problem, code: failure ?? problem['code'] };
  };
  /** The entry of a module in `GET /modules`. */
  const look = async (module: string) => {
    const { modules } = parseJson(await call(setup.host, { target: '/modules' }));
    const entry = (modules as ModuleEntry[]).find(({ name }) => name === module);
    if (entry === undefined) throw new Error(`no module ${module}`);
    return entry;
  };
  const read = async (target: string) => parseJson(await call(setup.host, { target, as: ANN }));
  const ask = async (tool: string, text = BODY) => {
    const problem = await send(tool, text);
    expect(problem).to.include({ code: 'approval_required' });
    return String(problem['approval_id']);
  };
  const approve = (tool: string, text = BODY) => decide('approve', tool, text);
  const decide = async (decision: string, tool: string, text = BODY) => {
    const id = await ask(tool, text);
    const { status } = await call(setup.host, {
      ...{ method: 'POST', target: `/approvals/${id}`, as: ANN, headers: [JSON_TYPE] },
      body: Buffer.from(JSON.stringify({ decision })),
    });
    expect(status).to.equal(200);
    return id;
  };
  const expectStatus = async (id: string, status: string) =>
    expect(await read(`/approvals/${id}`)).to.include({ status });
  const countRequests = async () =>
    ((await read('/approvals?limit=1000'))['approvals'] as unknown[]).length;
  const expectCalled = async (tool: string, text = BODY) =>
    expect(await send(tool, text)).to.deep.equal({ code: 'called' });
  const reached = () => {
    const count = setup.provider.requests.length;
    setup.provider.reset();
    return count;
  };
  /** Holds the only place of a module until the test lets the provider respond. */
  const occupy = async (module: string) => {
    setup.provider.answer({ raw: [], finally: 'hang' });
    const controller = new AbortController();
    const held = fetch(`${setup.host.url}/modules/${module}/http/items`, {
      headers: { authorization: `Bearer ${AGENT}` },
      signal: controller.signal,
    }).catch(() => {});
    await waitUntil('the place is taken', () => setup.provider.requests.length === 1);
    setup.provider.reset();
    return async () => {
      controller.abort();
      await held;
    };
  };

  it('is never asked for if the call is invalid', async () => {
    const before = await countRequests();
    const invalid = [
      ['post_items', '{"body":{"n":"text"}}'],
      ['post_items', '{"body":{"n":1},"size":"x"}'],
      ['post_items', '{}'],
      ['post_items', '{"body":{"n":1},"other":1}'],
      ['post_items', `{"body":{"n":1,"x":"${'x'.repeat(1024)}"}}`],
      ['get_items', '{"size":"x"}'],
      ['remove', '{"id":""}'],
      ['remove', '{"id":".."}'],
      ['remove', '{"id":{}}'],
      ['post_notes', '{"body":1}'],
      ['post_notes', `{"body":"${'x'.repeat(1025)}"}`],
      ['merge', '{"body":{"n":"text"}}'],
      ['merge', '{"body":{}}'],
      ['merge', '{"body":{"n":1},"other":1}'],
      ['list_people', '{"limit":"x"}'],
      ['list_people', '{"cursor":1}'],
      ['list_people', '{"other":1}'],
    ] as const;
    for (const [name, text] of invalid) {
      const tool = `always_${name}`;
      expect(await send(tool, text), tool + text).to.include({ code: 'validation_failed' });
      const found = await send('call_tool', `{"name":"${tool}","arguments":${text}}`);
      expect(found, `call_tool ${tool}${text}`).to.include({ code: 'validation_failed' });
    }
    expect(await countRequests()).to.equal(before);
    expect(reached()).to.equal(0);
  });

  it('keeps its approval while a circuit breaker is open', async () => {
    const own = await startEchoProvider();
    const breaker = { failures: 1, open_ms: 60_000 };
    setup.host.drop('down.json', describeShop(own.url, 'down', { breaker }));
    await waitUntil('the module serves', async () => {
      const tools = await listTools(setup.host, { as: AGENT, module: 'down' });
      return tools.length > 0;
    });
    await approve('down_post_items');
    const kept = [
      ['down_post_items', await approve('down_post_items', '{"body":{"n":2}}')],
      ['down_merge', await approve('down_merge', '{"body":{"n":2}}')],
    ] as const;
    await own.close();
    expect(await send('down_post_items')).to.include({ code: 'unavailable' });
    const before = await countRequests();
    for (const [tool, id] of kept) {
      expect(await send(tool, '{"body":{"n":2}}')).to.include({ code: 'unavailable' });
      expect(await send(tool, '{"body":{"n":3}}')).to.include({ code: 'unavailable' });
      await expectStatus(id, 'approved');
    }
    expect(await countRequests()).to.equal(before);
  });

  it('keeps its approval while a rate limit rejects it', async () => {
    const asked = async () => (await send('rare_post_items'))['approval_id'];
    let id: unknown;
    await waitUntil('it is asked for', async () => {
      id = await asked();
      return id !== undefined;
    });
    await call(setup.host, {
      ...{ method: 'POST', target: `/approvals/${id}`, as: ANN, headers: [JSON_TYPE] },
      body: Buffer.from('{"decision":"approve"}'),
    });
    await waitUntil('the rate is used up', async () => {
      const { code } = await send('rare_get_items', '{}');
      return code === 'rate_limited';
    });
    setup.provider.reset();
    const codes = new Set<unknown>();
    await waitUntil('the call passes', async () => {
      codes.add((await send('rare_post_items'))['code']);
      return codes.has('called');
    });
    expect([...codes]).to.have.members(['rate_limited', 'called']);
    await expectStatus(String(id), 'used');
    expect(reached()).to.equal(1);
  });

  it('keeps its approval while the module has no place, and asks nobody then', async () => {
    const id = await approve('narrow_post_items');
    const leave = await occupy('narrow');
    const before = await countRequests();
    expect(await send('narrow_post_items')).to.include({ code: 'overloaded' });
    expect(await send('narrow_post_items', '{"body":{"n":9}}')).to.include({ code: 'overloaded' });
    expect(await send('narrow_merge')).to.include({ code: 'overloaded' });
    expect(await countRequests()).to.equal(before);
    await expectStatus(id, 'approved');
    await leave();
    await waitUntil('the place is free', async () => {
      const { code } = await send('narrow_post_items');
      return code === 'called';
    });
    await expectStatus(id, 'used');
  });

  it('passes once if two calls compete for one approval', async () => {
    for (const tool of ['shop_post_items', 'shop_merge']) {
      await approve(tool, '{"body":{"n":7}}');
      const calls = Array.from({ length: 4 }, () => send(tool, '{"body":{"n":7}}'));
      const codes = (await Promise.all(calls)).map(({ code }) => code);
      expect(codes.filter((code) => code === 'called')).to.have.length(1);
      expect(codes.filter((code) => code === 'approval_required')).to.have.length(3);
      expect(reached()).to.equal(1);
    }
  });

  it('applies to one version of the module, unlike a rejection', async () => {
    const { host, provider } = setup;
    const id = await approve('changed_post_items');
    const rejected = '{"body":{"n":2}}';
    await decide('reject', 'changed_post_items', rejected);
    const { config_digest: before } = await look('changed');
    host.drop('changed.json', describeShop(provider.url, 'changed', { owner: { name: 'x' } }));
    await waitUntil('the change serves', async () => {
      const { config_digest } = await look('changed');
      return config_digest !== before;
    });
    expect(await ask('changed_post_items')).not.to.equal(id);
    const again = await send('changed_post_items', rejected);
    expect(again).to.include({ code: 'approval_rejected' });
    await expectStatus(id, 'approved');
    expect(reached()).to.equal(0);
  });

  for (const [what, more] of [
    ['hides the operation', { mcp: { expose: 'read' } }],
    ['changes the module', { owner: { name: 'x' } }],
  ] as const) {
    it(`keeps its approval if a reload ${what} while it waits for its turn`, async () => {
      const { host, provider } = setup;
      const reload = async (change: object) => {
        const { config_digest: before } = await look('waiting');
        host.drop('waiting.json', describeShop(provider.url, 'waiting', { ...WAITING, ...change }));
        await waitUntil('it serves', async () => {
          const { config_digest } = await look('waiting');
          return config_digest !== before;
        });
      };
      const id = await approve('waiting_post_items');
      const leave = await occupy('waiting');
      const running = send('waiting_post_items');
      await waitUntil('it waits', async () => {
        const { counts } = await look('waiting');
        return counts.queued > 0;
      });
      await reload(more);
      await leave();
      expect(await running).to.include({ code: 'not_found' });
      await expectStatus(id, 'approved');
      expect(reached()).to.equal(0);
      await reload({});
      await expectCalled('waiting_post_items');
    });
  }

  it('is never answered by a cache', async () => {
    await approve('shop_get_kept', '{}');
    const direct = { target: '/modules/shop/http/kept', as: AGENT };
    expect((await call(setup.host, direct)).status).to.equal(200);
    expect((await call(setup.host, direct)).status).to.equal(200);
    expect(reached()).to.equal(1);
    await expectCalled('shop_get_kept', '{}');
    expect(reached()).to.equal(1);
    await ask('shop_get_kept', '{}');
    expect(reached()).to.equal(0);
  });

  it('that waits is no call of the provider, nor a failure of the module', async () => {
    const count = async () => {
      const { counts, endpoints } = await look('shop');
      return [counts.failed, endpoints[0]?.calls];
    };
    const before = await count();
    await ask('shop_post_items', '{"body":{"n":11}}');
    await ask('shop_merge', '{"body":{"n":11}}');
    expect(await count()).to.deep.equal(before);
    const { calls } = parseJson(await call(setup.host, { target: '/calls?module=shop&limit=1' }));
    expect((calls as object[])[0]).to.include({ status: 202, attempts: 0, endpoint: null });
    const { rows } = parseJson(await call(setup.host, { target: '/audit?module=shop&limit=1000' }));
    const invoked = (rows as { operation: string; outcome: string }[]).filter(
      ({ operation, outcome }) => operation === 'admin_action_invoke' && outcome === 'ok',
    );
    expect(invoked).to.have.length(1);
  });
});
