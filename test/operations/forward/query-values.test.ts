import { expect } from 'chai';
import { call } from '../../support/http/call.js';
import { expectProblem } from '../../support/http/expect-problem.js';
import { describeModule } from '../../support/http/modules.js';
import { useHost } from '../../support/http/use-host.js';

const QUERY = {
  properties: { a: { type: 'array' }, b: { type: 'array', items: { type: 'integer' } }, c: {} },
};
const ROUTES = [
  { method: 'GET', path: '/many', capability: 'shop.use', operation: { query_schema: QUERY } },
];

describe('a query with many values', () => {
  const setup = useHost(({ url }) => ({
    'shop.json': describeModule('shop', url, ROUTES),
    'seen.json': describeModule('seen', url, ROUTES, { schemas: { input: 'report' } }),
  }));

  const many = (query: string, module = 'shop') =>
    call(setup.host, { target: `/modules/${module}/http/many?${query}` });

  it('is accepted with 1,000 values of declared parameters', async () => {
    for (const query of ['a&'.repeat(1_000), `${'a&'.repeat(500)}${'b=1&'.repeat(499)}c=x`]) {
      expect((await many(query)).status).to.equal(200);
    }
  });

  for (const [title, query] of Object.entries({
    'of several lists': `${'a&'.repeat(500)}${'b=1&'.repeat(500)}c=x`,
    'of one list': 'a&'.repeat(7_000),
    'that are encoded': '%61=1&'.repeat(1_001),
  })) {
    it(`is rejected with more values ${title}, or reported`, async () => {
      const { errors } = expectProblem(await many(query), 400, 'validation_failed');
      const reason = 'expected at most 1000 values of declared parameters';
      expect(errors).to.deep.equal([{ field: 'query', reason }]);
      expect((await many(query, 'seen')).status).to.equal(200);
    });
  }

  it('is rejected with the first 20 values that do not decode', async () => {
    for (const query of ['a=%ff&'.repeat(2_600), '%ff&'.repeat(4_000)]) {
      const { errors } = expectProblem(await many(query), 400, 'validation_failed');
      expect(errors).to.have.length(20);
      expect((await many(query, 'seen')).status).to.equal(200);
    }
  });

  it('is rejected by a route of the host', async () => {
    for (const [query, reason] of [
      ['limit=%ff&'.repeat(1_500), 'more than 1000 parameters'],
      ['module=shop&'.repeat(1_200), 'more than 1000 parameters'],
    ] as const) {
      const rejected = await call(setup.host, { target: `/calls?${query}` });
      expect(expectProblem(rejected, 400, 'validation_failed').errors).to.deep.equal([
        { field: 'query', reason },
      ]);
    }
    const names = 'module=shop&'.repeat(999);
    const listed = await call(setup.host, { target: `/openapi.json?${names}module=shop` });
    expect(listed.status).to.equal(200);
  });

  it('passes as it was sent with any number of other values', async () => {
    for (const query of ['z&'.repeat(7_000), `a=1&${'z=1&'.repeat(3_000)}`]) {
      expect((await many(query)).status).to.equal(200);
      expect(setup.provider.requests.at(-1)?.target).to.equal(`/many?${query}`);
    }
  });
});
