import { expect } from 'chai';
import { headerValue } from '../../../core/selftest/raw-http.js';
import { call, parseJson } from '../../support/http/call.js';
import { expectProblem } from '../../support/http/expect-problem.js';
import { useHost } from '../../support/http/use-host.js';
import { waitUntil } from '../../support/http/wait-until.js';

/** The port of the discard protocol, where nothing listens. */
const NOWHERE = 'http://127.0.0.1:9/manifest.json';

const describeWaiting = (module: string, endpoint: string, more: object = {}) => ({
  module,
  provider: { kind: 'http', config: { endpoints: [endpoint] } },
  manifest: { url: NOWHERE },
  ...more,
});

describe('a module that waits for its manifest', () => {
  const setup = useHost(
    ({ url }) => ({
      'late.json': describeWaiting('late', url),
      'people.json': describeWaiting('people', url, { callers: ['user'] }),
      'off.json': describeWaiting('off', url, { enabled: false }),
    }),
    { isDescribed: false },
  );
  const get = (module: string, as: string | null) =>
    call(setup.host, { target: `/modules/${module}/http/items`, as });

  before(async () => {
    await waitUntil('both modules wait', async () => {
      const { modules } = parseJson(await call(setup.host, { target: '/modules' }));
      const states = (modules as { state: string }[]).map(({ state }) => state);
      return states.filter((state) => state === 'waiting').length === 2;
    });
  });

  it('is 503 with a time to try again for a caller that it is open to', async () => {
    const response = await get('late', 'dev-service:a');
    const problem = expectProblem(response, 503);
    expect(problem).to.deep.include({
      code: 'unavailable',
      detail: 'the module waits for its manifest',
      next_actions: ['try again later'],
    });
    expect(headerValue(response.headers, 'retry-after')).to.equal('1');
    expectProblem(await get('people', 'dev-user:a'), 503);
  });

  it('is hidden from every other caller, as a module that is not there', async () => {
    expectProblem(await get('late', null), 401);
    const denied = expectProblem(await get('late', 'dev-user:a'), 403);
    const unknown = expectProblem(await get('nowhere', 'dev-user:a'), 403);
    expect(denied.detail).to.equal(unknown.detail);
    expectProblem(await get('people', 'dev-service:a'), 403);
  });

  it('is 404 where its file switches it off', async () => {
    expectProblem(await get('off', 'dev-service:a'), 404);
  });

  it('is explained with its state', async () => {
    const target = '/explain?method=GET&target=/modules/late/http/items';
    const { checks, verdict } = parseJson(await call(setup.host, { target }));
    expect(verdict).to.include({ status: 503 });
    const module = (checks as { check: string }[]).find(({ check }) => check === 'module');
    expect(module).to.include({ outcome: 'fail', status: 503 });
    expect(module)
      .to.have.property('detail')
      .that.matches(/^module 'late' is waiting \(late\.json\)/);
  });
});
