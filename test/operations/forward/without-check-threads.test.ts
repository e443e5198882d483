import { expect } from 'chai';
import { call, JSON_TYPE } from '../../support/http/call.js';
import { expectProblem } from '../../support/http/expect-problem.js';
import { describeModule } from '../../support/http/modules.js';
import { useHost } from '../../support/http/use-host.js';
import { withoutThreads } from '../../support/without-threads.js';

const LONG = 70_000;
/** The longest body that is checked at once, with its quotes. */
const LONGEST = 262_144;
const MANY = 30_000;

describe('a body for whose check the system has no thread', () => {
  const input_schema = { type: ['array', 'string'], maxLength: LONG, items: { type: 'integer' } };
  const route = { method: 'POST', path: '/', capability: 'shop.use', operation: { input_schema } };
  const setup = useHost(({ url }) => ({ 'shop.json': describeModule('shop', url, [route]) }));
  const post = (body: unknown) =>
    call(setup.host, {
      method: 'POST',
      target: '/modules/shop/http/',
      headers: [JSON_TYPE],
      body: Buffer.from(JSON.stringify(body)),
    });

  it('is checked at once, or rejected as too much work', async () => {
    await withoutThreads(async () => {
      expect((await post('a'.repeat(LONG))).status).to.equal(200);
      expectProblem(await post('a'.repeat(LONG + 1)), 400, 'validation_failed');
      expectProblem(await post('a'.repeat(LONGEST - 2)), 400, 'validation_failed');
      for (const body of ['a'.repeat(LONGEST - 1), new Array(MANY).fill(1)]) {
        const { errors } = expectProblem(await post(body), 502, 'external_dependency_failure');
        expect(errors).to.deep.include({ field: 'limit', reason: 'schema-checks' });
      }
    });
    expectProblem(await post('a'.repeat(LONGEST - 1)), 400, 'validation_failed');
    expect((await post(new Array(MANY).fill(1))).status).to.equal(200);
  });
});
