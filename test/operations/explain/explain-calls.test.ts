import { expect } from 'chai';
import { call, parseJson } from '../../support/http/call.js';
import { expectProblem, reasonOf } from '../../support/http/expect-problem.js';
import { describeModule } from '../../support/http/modules.js';
import { useHost } from '../../support/http/use-host.js';
import { waitUntil } from '../../support/http/wait-until.js';

const ROUTES = ['/items/{id}', '/größe und "form"/{id}'].map((path) => ({
  ...{ method: 'GET', path, capability: 'shop.read' },
}));
const EXPLAINER = 'dev-service:ops:modgate.explain,modgate.calls.read';
const MAX_CALLS = 100;

describe('GET /explain?request_id=', () => {
  const setup = useHost((provider) => ({
    'shop.json': describeModule('shop', provider.url, ROUTES),
  }));
  const explain = (query: string, overrides: object = {}) =>
    call(setup.host, { target: `/explain?${query}`, as: EXPLAINER, ...overrides });
  const request = (id: string, target = '/modules/shop/http/items/1') =>
    call(setup.host, { target, headers: [['x-request-id', id]] });
  const read = async (id: string) =>
    (parseJson(await explain(`request_id=${id}`)) as { calls: Record<string, unknown>[] }).calls;

  it('shows the calls with this id as GET /calls does, newest first', async () => {
    await request('mine');
    await request('other');
    await request('mine', '/modules/shop/http/none');
    const calls = await read('mine');
    expect(calls.map(({ status }) => status)).to.deep.equal([404, 200]);
    const listed = parseJson(await call(setup.host, { target: '/calls' })) as {
      calls: Record<string, unknown>[];
    };
    expect(calls).to.deep.equal(listed.calls.filter((record) => record['request_id'] === 'mine'));
  });

  it('shows with now=true what was decided then, beside what would be decided now', async () => {
    const as = 'dev-service:crm:shop.other';
    const headers = [['x-request-id', 'compared']] as const;
    await call(setup.host, { target: '/modules/shop/http/items/1', as, headers });
    await call(setup.host, { target: '/modules/shop/http/none', as, headers });
    await call(setup.host, { target: '/modules/shop/http/items/1', as: null, headers });
    type Check = Readonly<Record<'check' | 'outcome', string>>;
    interface Compared {
      readonly decision: { readonly status: number; readonly checks: readonly Check[] };
      readonly now: null | {
        readonly verdict: { readonly status: number };
        readonly actor: object;
        readonly checks: readonly Check[];
      };
    }
    const answer = parseJson(await explain('request_id=compared&now=true'));
    const [anonymous, unmatched, denied] = answer['calls'] as unknown as Compared[];
    expect(JSON.stringify(answer['calls'])).to.not.include('"scopes":null');
    const failedOf = ({ checks }: { readonly checks: readonly Check[] }) =>
      checks.filter(({ outcome }) => outcome === 'fail').map(({ check }) => check);
    expect(anonymous?.now).to.equal(null);
    expect(anonymous && failedOf(anonymous.decision)).to.deep.equal(['actor']);
    expect(unmatched && failedOf(unmatched.decision)).to.deep.equal(['route']);
    expect(unmatched?.now?.verdict.status).to.equal(404);
    expect(denied?.decision.status).to.equal(403);
    expect(denied && failedOf(denied.decision)).to.deep.equal(['capability']);
    expect(denied?.now && failedOf(denied.now)).to.deep.equal(['capability']);
    expect(denied?.now?.verdict.status).to.equal(403);
    expect(denied?.now?.actor).to.deep.equal({
      kind: 'service',
      id: 'crm',
      scopes: ['shop.other'],
    });
    const passed = denied?.decision.checks.filter(({ outcome }) => outcome === 'pass') ?? [];
    expect(passed.map(({ check }) => check)).to.include.members(['actor', 'module', 'route']);
    const log = () => setup.host.logs().filter(({ msg }) => msg === 'recorded call explained');
    await waitUntil('the line', () => log().length === 1);
    const listed = await call(setup.host, { target: '/calls?request_id=compared' });
    expect(listed.body.toString()).to.not.include('shop.other');
  });

  it('finds the route of a call again whatever letters it has', async () => {
    const target = `/modules/shop/http/${encodeURIComponent('größe und "form"')}/1`;
    expect((await request('letters', target)).status).to.equal(200);
    const { calls } = parseJson(await explain('request_id=letters&now=true')) as {
      calls: { now: { verdict: { status: number | null } } }[];
    };
    expect(calls[0]?.now.verdict.status).to.not.equal(404);
  });

  it('limits how often actors of then are explained', async () => {
    await request('limited');
    const as = 'dev-service:curious:modgate.explain,modgate.calls.read';
    const statuses = new Set<number>();
    for (let count = 0; count < 40; count += 1) {
      statuses.add((await explain('request_id=limited&now=true', { as })).status);
    }
    expect([...statuses]).to.deep.equal([200, 429]);
  });

  it('shows at most 100', async () => {
    for (let count = 0; count < MAX_CALLS + 1; count += 1)
      await request('many', '/modules/x/http/y');
    expect(await read('many')).to.have.length(MAX_CALLS);
  });

  it('is 404 for an id without a call', async () => {
    const problem = expectProblem(await explain('request_id=unknown'), 404);
    expect(problem).to.include({ code: 'not_found' });
    expectProblem(await explain(`request_id=${'x'.repeat(1000)}`), 404);
  });

  it('rejects an id that is empty, repeated or beside another parameter', async () => {
    const reason = async (query: string, field: string) =>
      reasonOf(expectProblem(await explain(query), 400), field);
    expect(await reason('request_id=', 'request_id')).to.equal('missing');
    expect(await reason('request_id=a&request_id=b', 'request_id')).to.equal('repeated');
    expect(await reason('request_id=a&limit=1', 'limit')).to.equal('unknown');
    expect(await reason('request_id=a&now=1', 'now')).to.equal('not true');
    expect(await reason('method=GET&target=%2F&now=true', 'now')).to.equal('only with request_id');
    expect(await reason('method=GET&target=%2F&module=a', 'module')).to.equal('unknown');
    expect(await reason('request_id=a&method=GET', 'method')).to.equal(
      'not allowed with request_id',
    );
    expect(await reason('target=%2F&request_id=a', 'target')).to.equal(
      'not allowed with request_id',
    );
  });

  it('requires both scopes', async () => {
    const query = 'request_id=mine';
    expectProblem(await explain(query, { as: null }), 401);
    for (const [scope, missing] of [
      ['modgate.explain', 'modgate.calls.read'],
      ['modgate.calls.read', 'modgate.explain'],
    ] as const) {
      const problem = expectProblem(await explain(query, { as: `dev-service:ops:${scope}` }), 403);
      expect(reasonOf(problem, 'scope')).to.equal(missing);
    }
    expect((await explain(query, { as: 'dev-system:root' })).status).to.equal(200);
  });
});
