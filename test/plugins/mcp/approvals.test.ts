import { expect } from 'chai';
import { digestText } from '../../../core/lib/hash.js';
import { type Call, call, JSON_TYPE, parseJson } from '../../support/http/call.js';
import { expectProblem } from '../../support/http/expect-problem.js';
import { describeModule } from '../../support/http/modules.js';
import { useHost } from '../../support/http/use-host.js';
import { callTool, problemOf } from '../../support/mcp/mcp-call.js';

const AGENT = 'dev-service:agent:shop.write,shop.merge';
const OTHER = 'dev-service:other:shop.write,shop.merge';
/** Rejected calls count for the limit of their caller. */
const REJECTED = { as: 'dev-service:rejected:shop.write,shop.merge' };
const ANN = 'dev-user:ann:modgate.approvals';
const BODY = '{"body":{"n":1.0}}';

const ROUTES = [
  { method: 'GET', path: '/items', capability: 'shop.write' },
  {
    method: 'POST',
    path: '/items',
    summary: 'Add an item',
    description: 'Shown to all.',
    capability: 'shop.write',
  },
  {
    method: 'POST',
    path: '/views',
    capability: 'shop.write',
    operation: { danger_level: 'low' },
  },
];

const ACTIONS = [
  {
    name: 'merge',
    label: 'Merge  contacts',
    description: 'Merges two.\n\n\n  Cannot\u200b be undone.\n',
    capability: 'shop.merge',
    invoke_path: '/merge',
    confirmation: { message: 'Merge\u2003now?', required_phrase: 'MERGE' },
  },
];

function describeShop(url: string, mcp: object, name = 'shop'): object {
  const shop = describeModule(name, url, ROUTES, { mcp, forward_headers: ['x-tenant'] });
  const { manifest } = shop as { manifest: { inline: object } };
  const capabilities = ['shop.write', 'shop.merge'];
  Object.assign(manifest.inline, { admin: { actions: ACTIONS }, capabilities });
  return shop;
}

describe('approvals', () => {
  const setup = useHost(
    ({ url }) => ({
      'shop.json': describeShop(url, { expose: 'all' }),
      'always.json': describeShop(url, { expose: 'all', approve: 'always' }, 'always'),
    }),
    { args: ['--surfaces', 'mcp'] },
  );

  const add = (text = BODY, options: Parameters<typeof callTool>[3] = {}) =>
    callTool(setup.host, 'shop_post_items', text, { as: AGENT, ...options });
  const ask = async (...args: Parameters<typeof add>) => {
    const problem = problemOf(await add(...args));
    expect(problem).to.include({ code: 'approval_required' });
    return String(problem['approval_id']);
  };
  const send = (target: string, as: string | null = ANN, value?: object) => {
    const request: Call =
      value === undefined
        ? { target, as }
        : {
            ...{ method: 'POST', target, as, headers: [JSON_TYPE] },
            body: Buffer.from(JSON.stringify(value)),
          };
    return call(setup.host, request);
  };
  const decide = (id: string, decision: string, as: string | null = ANN) =>
    send(`/approvals/${id}`, as, { decision });
  const reject = (id: string, reason: unknown) =>
    send(`/approvals/${id}`, ANN, { decision: 'reject', reason });
  const show = async (id: string) => parseJson(await send(`/approvals/${id}`));
  const approve = async (id: string) => expect((await decide(id, 'approve')).status).to.equal(200);
  const reached = () => {
    const bodies = setup.provider.requests.map(({ body }) => body.toString());
    setup.provider.reset();
    return bodies;
  };

  it('let a dangerous call wait, and then pass once', async () => {
    const id = await ask();
    expect(await ask()).to.equal(id);
    expect(reached()).to.deep.equal([]);
    await approve(id);
    expect((await add()).isError).to.equal(undefined);
    expect(reached()).to.deep.equal(['{"n":1.0}']);
    expect(await ask()).not.to.equal(id);
    expect(reached()).to.deep.equal([]);
  });

  it('are for exactly the call that was shown', async () => {
    await approve(await ask());
    await ask('{"body":{"n":1}}');
    await ask(BODY, { as: OTHER });
    await ask(BODY, { headers: [['x-tenant', 'b']] });
    await ask(BODY, { headers: [['accept-language', 'de']] });
    expect(reached()).to.deep.equal([]);
    const equalInput = '{ "body" : {"\\u006e":1.0 } }';
    expect((await add(equalInput)).isError).to.equal(undefined);
    expect(reached()).to.have.length(1);
  });

  for (const [what, tool] of [
    ['a route', 'shop_post_items'],
    ['an action', 'shop_merge'],
  ] as const) {
    it(`keep a call of ${what} rejected, with the reason`, async () => {
      const send = async (text = '{"body":"rejected"}') =>
        problemOf(await callTool(setup.host, tool, text, REJECTED));
      const id = String((await send())['approval_id']);
      const decided = parseJson(await reject(id, 'not\u200b yet\nann'));
      expect(decided).to.include({ status: 'rejected', reason: 'not\\u200b yet\\u000aann' });
      for (const _ of [1, 2]) {
        const problem = await send();
        expect(problem).to.include({ code: 'approval_rejected', approval_id: id });
        expect(problem['reason']).to.equal('not\\u200b yet\\u000aann');
        expect(problem['next_actions']).to.match(/do not repeat it/);
        expect(problem['expires_at']).to.equal((await show(id))['expires_at']);
      }
      expect(await send('{"body":"other"}')).to.include({ code: 'approval_required' });
      expect(reached()).to.deep.equal([]);
    });
  }

  it('are rejected with a reason of at most 500 characters, or none', async () => {
    const id = await ask('{"body":"reasons"}', REJECTED);
    for (const reason of ['x'.repeat(501), 7, null]) {
      expectProblem(await reject(id, reason), 400, 'validation_failed');
    }
    expectProblem(
      await send(`/approvals/${id}`, ANN, { decision: 'approve', reason: 'fine' }),
      400,
      'validation_failed',
    );
    expect((await reject(id, '\u{1f600}'.repeat(500))).status).to.equal(200);
    const other = await ask('{"body":"no reason"}', REJECTED);
    expect(parseJson(await reject(other, ''))).to.include({ status: 'rejected', reason: null });
    expect(problemOf(await add('{"body":"no reason"}', REJECTED))).to.include({ reason: null });
    const unstorable = await ask('{"body":"unstorable"}', REJECTED);
    expect(parseJson(await reject(unstorable, 'a\0b\ud800'))).to.include({
      reason: 'a\\u0000b\\ud800',
    });
  });

  it('are decided once, by another user with the scope', async () => {
    const id = await ask('{"body":"who"}');
    expectProblem(await decide(id, 'approve', null), 401);
    expectProblem(await decide(id, 'approve', 'dev-user:ann'), 403);
    expectProblem(await decide(id, 'approve', 'dev-service:ann:modgate.approvals'), 403);
    expectProblem(await decide(id, 'approve', 'dev-system:root'), 403);
    expectProblem(await decide(id, 'perhaps'), 400);
    expectProblem(await decide('apr_none', 'approve'), 404);
    await approve(id);
    expectProblem(await decide(id, 'reject'), 409, 'conflict');
    expect(await show(id)).to.include({ status: 'approved' });
  });

  it('are not decided by the caller that asked', async () => {
    const as = 'dev-user:ann:shop.merge,modgate.approvals';
    const text = '{"body":"own"}';
    const id = problemOf(await callTool(setup.host, 'shop_merge', text, { as }))['approval_id'];
    expectProblem(await decide(String(id), 'approve'), 403);
    expect((await decide(String(id), 'approve', 'dev-user:bob:modgate.approvals')).status).to.equal(
      200,
    );
    const result = await callTool(setup.host, 'shop_merge', text, { as });
    expect(result.isError).to.equal(undefined);
    expect(reached()).to.deep.equal(['"own"']);
  });

  it('show everything that is sent, and what was approved before', async () => {
    const first = await ask('{"body":"before"}');
    await approve(first);
    const id = await ask('{"body":"a\\u202eb\u200bc","x":1}'.replace(',"x":1', ''), {
      headers: [['x-tenant', 'a']],
    });
    const approval = await show(id);
    expect(approval).to.deep.include({
      kind: 'call',
      status: 'pending',
      module: 'shop',
      operation: 'post_items',
      name: 'POST /items',
      summary: 'Add an item',
      description: 'Shown to all.',
      confirmation: null,
      danger_level: 'medium',
      actor: { kind: 'service', id: 'agent' },
      arguments: '{\n  "body": "a\\u202eb\\u200bc"\n}',
      has_invisible: true,
      members: 1,
      bytes: 20,
      headers: [{ name: 'x-tenant', value: 'a' }],
    });
    const before = '{\n  "body": "before"\n}';
    expect(approval['previous']).to.include({ id: first, arguments: before, bytes: 17 });
    await approve(id);
    expect((await show(id))['previous']).to.deep.equal(approval['previous']);
    const { approvals } = parseJson(await send('/approvals?limit=1000'));
    const listed = (approvals as { id: string }[]).find((entry) => entry.id === id);
    expect(listed).not.to.have.any.keys('arguments', 'previous');
    expectProblem(await send('/approvals', 'dev-user:ann'), 403);
  });

  it('show the texts of the manifest as a person can see them', async () => {
    const as = OTHER;
    const asked = problemOf(await callTool(setup.host, 'shop_merge', '{"body":"words"}', { as }));
    expect(await show(String(asked['approval_id']))).to.deep.include({
      summary: 'Merge\\u0020\\u0020contacts',
      description: 'Merges two.\nCannot\\u200b be undone.',
      confirmation: { message: 'Merge\\u2003now?', required_phrase: 'MERGE' },
    });
    expect(asked).not.to.have.property('approval_url');
  });

  for (const [title, text, shown] of [
    [
      'blanks between members',
      `{"b":${'\n\t '.repeat(2000)}1.0,\r\n"a":"x"}`,
      '"a": "x",|    "b": 1.0',
    ],
    ['an em space', '{"a":"x\u2003y"}', '"a": "x\\u2003y"'],
    ['a space that does not break', '{"a":"x\u00a0y"}', '"a": "x\\u00a0y"'],
    ['an ideographic space in a name', '{"a\u3000":1}', '"a\\u3000": 1'],
    ['two spaces', '{"a":"x  y z"}', '"a": "x\\u0020\\u0020y z"'],
    ['line ends and tabs in a text', '{"a":"x\\n\\r\\ty"}', '"a": "x\\n\\r\\ty"'],
    ['escapes of blanks', '{"a":"x\\u2003\\u0020\\u0020y"}', '"a": "x\\u2003\\u0020\\u0020y"'],
    ['an escape that is text', '{"a":"x\\\\u2003"}', '"a": "x\\\\u2003"'],
    [
      'lists',
      '{"a":[1,[],{}, {"b":[2]}]}',
      '"a": [|      1,|      [],|      {},|      {|        "b": [|          2|        ]|      }|    ]',
    ],
  ] as const) {
    it(`show ${title} as a person can see it`, async () => {
      const { arguments: json, has_invisible } = await show(await ask(`{"body":${text}}`));
      expect(json).to.equal(`{\n  "body": {\n    ${shown.replaceAll('|', '\n')}\n  }\n}`);
      expect(JSON.parse(String(json))).to.deep.equal({ body: JSON.parse(text) });
      expect(has_invisible).to.equal(/(?<!\\)\\[^\\]/.test(shown));
    });
  }

  it('show deep arguments without pushing them aside', async () => {
    const { arguments: json } = await show(
      await ask(`{"body":${'['.repeat(90)}1${']'.repeat(90)}}`),
    );
    expect(json).to.match(/\n {32}1\n/);
  });

  it('show the values of headers, with escapes', async () => {
    const id = await ask('{"body":"headers"}', { headers: [['x-tenant', 'a  b\u00a0c\td']] });
    const { headers } = await show(id);
    expect(headers).to.deep.equal([
      { name: 'x-tenant', value: 'a\\u0020\\u0020b\\u00a0c\\u0009d' },
    ]);
  });

  it('leave rows in the audit; that of a rejection has the digest of its reason', async () => {
    const approved = await ask('{"body":"audited"}');
    await approve(approved);
    const rejected = await ask('{"body":"audited too"}', REJECTED);
    await reject(rejected, 'not today');
    const { rows } = parseJson(await call(setup.host, { target: '/audit?module=shop&limit=1000' }));
    const rowsOf = (id: string) =>
      (rows as Record<string, unknown>[])
        .filter(({ target }) => target === id)
        .map(({ operation, actor }) => ({ operation, actor }));
    const asked = (id: string) => {
      return { operation: 'approval_request', actor: { kind: 'service', id } };
    };
    const ann = { kind: 'user', id: 'ann' };
    expect(rowsOf(approved)).to.deep.equal([
      asked('agent'),
      { operation: 'approval_approve', actor: ann },
    ]);
    expect(rowsOf(rejected)).to.deep.equal([
      asked('rejected'),
      { operation: 'approval_reject', actor: ann },
    ]);
    const last = (rows as Record<string, unknown>[]).at(-1);
    expect(last).to.include({ value_digest: digestText('"not today"') });
  });

  it('are needed as the descriptor says', async () => {
    const { host } = setup;
    const view = await callTool(host, 'shop_post_views', BODY, { as: AGENT });
    expect(view.isError).to.equal(undefined);
    const list = await callTool(host, 'shop_get_items', '{}', { as: AGENT });
    expect(list.isError).to.equal(undefined);
    const always = await callTool(host, 'always_get_items', '{}', { as: AGENT });
    expect(problemOf(always)).to.include({ code: 'approval_required' });
  });

  it('are not requested by callers without the right to call, nor over HTTP', async () => {
    const denied = await add(BODY, { as: 'dev-service:agent' });
    expect(problemOf(denied)).to.include({ code: 'forbidden' });
    const value = { module: 'shop', operation: 'action:merge', arguments: {} };
    expectProblem(await send('/operations', AGENT, value), 403);
    expectProblem(await send('/approvals', AGENT, value), 405);
  });

  it('are limited in length and number', async () => {
    const long = problemOf(await add(`{"body":"${'x'.repeat(49_200)}"}`));
    expect(long).to.include({ code: 'validation_failed' });
    const as = 'dev-service:many:shop.write';
    for (let number = 0; number < 20; number += 1) await ask(`{"body":${number}}`, { as });
    expect(problemOf(await add('{"body":20}', { as }))).to.include({ code: 'rate_limited' });
    await ask('{"body":0}', { as });
  });
});

describe('approvals of own requests', () => {
  const setup = useHost(({ url }) => ({ 'shop.json': describeShop(url, { expose: 'all' }) }), {
    args: ['--surfaces', 'mcp', '--approvals', 'self'],
  });

  it('are allowed where the setting says so', async () => {
    const as = 'dev-user:ann:shop.merge,modgate.approvals';
    const { approval_id: id } = problemOf(await callTool(setup.host, 'shop_merge', '{}', { as }));
    const response = await call(setup.host, {
      ...{ method: 'POST', target: `/approvals/${id}`, as, headers: [JSON_TYPE] },
      body: Buffer.from('{"decision":"approve"}'),
    });
    expect(response.status).to.equal(200);
    expect((await callTool(setup.host, 'shop_merge', '{}', { as })).isError).to.equal(undefined);
  });
});

for (const [surfaces, isShown] of [
  ['mcp', true],
  ['mcp,-console', false],
] as const) {
  describe(`approvals of a host with a public URL and the surfaces ${surfaces}`, () => {
    const setup = useHost(({ url }) => ({ 'shop.json': describeShop(url, { expose: 'all' }) }), {
      args: ['--surfaces', surfaces, '--public-url', 'http://localhost:9'],
    });

    it(`${isShown ? 'name' : 'do not name'} the page on which a person decides`, async () => {
      for (const tool of ['shop_post_items', 'shop_merge']) {
        const problem = problemOf(await callTool(setup.host, tool, '{"body":1}', { as: AGENT }));
        const { approval_id: id, approval_url: url, next_actions } = problem;
        const page = `http://localhost:9/console/approvals?id=${id}`;
        expect(url).to.equal(isShown ? page : undefined);
        expect(String(next_actions).includes(page)).to.equal(isShown);
      }
    });
  });
}
