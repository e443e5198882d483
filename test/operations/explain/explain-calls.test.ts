import { expect } from 'chai';
import { call, parseJson } from '../../support/http/call.js';
import { expectProblem, reasonOf } from '../../support/http/expect-problem.js';
import { describeModule } from '../../support/http/modules.js';
import { useHost } from '../../support/http/use-host.js';

const ROUTES = [{ method: 'GET', path: '/items/{id}', capability: 'shop.read' }];
const EXPLAINER = 'dev-service:ops:modgate.explain,modgate.calls.read';
const MAX_CALLS = 100;

describe('GET /explain?request_id=', () => {
  const setup = useHost((provider) => ({
    'shop.json': describeModule('shop', provider.url, ROUTES),
  }));
  const explain = (query: string, more: object = {}) =>
    call(setup.host, { target: `/explain?${query}`, as: EXPLAINER, ...more });
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
    expect(calls).to.deep.equal(listed.calls.filter((one) => one['request_id'] === 'mine'));
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
