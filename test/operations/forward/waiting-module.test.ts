import { expect } from 'chai';
import { headerValue } from '../../../core/selftest/raw-http.js';
import { call, JSON_TYPE, parseJson } from '../../support/http/call.js';
import { expectProblem } from '../../support/http/expect-problem.js';
import { describeModule } from '../../support/http/modules.js';
import { useHost } from '../../support/http/use-host.js';
import { waitUntil } from '../../support/http/wait-until.js';

/** The port of the discard protocol, where nothing listens. */
const NOWHERE = 'http://127.0.0.1:9/manifest.json';

const INSIDE = '192.0.2.7';
const OUTSIDE = '198.51.100.1';

const describeWaiting = (module: string, endpoint: string, overrides: object = {}) => ({
  module,
  provider: { kind: 'http', config: { endpoints: [endpoint] } },
  manifest: { url: NOWHERE },
  ...overrides,
});

describe('a module that waits for its manifest', () => {
  const setup = useHost(
    ({ url }) => ({
      'late.json': describeWaiting('late', url),
      'people.json': describeWaiting('people', url, { callers: ['user'] }),
      'off.json': describeWaiting('off', url, { enabled: false }),
      'inner.json': describeWaiting('inner', url, { allow: { addresses: [INSIDE] } }),
      'live.json': describeModule('live', url, [], { allow: { addresses: [INSIDE] } }),
    }),
    {
      args: ['--trusted-proxies', '127.0.0.1', '--allow-dev-auth-anywhere'],
      isDescribed: false,
    },
  );
  const get = (module: string, as: string | null) =>
    call(setup.host, { target: `/modules/${module}/http/items`, as });

  before(async () => {
    await waitUntil('the modules wait', async () => {
      const { modules } = parseJson(await call(setup.host, { target: '/modules' }));
      const states = (modules as { state: string }[]).map(({ state }) => state);
      return states.filter((state) => state === 'waiting').length === 3;
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

  it('is 403 for an address that it does not allow, as a live module is', async () => {
    const from = (client: string, target: string, as: string | null) =>
      call(setup.host, {
        target,
        as,
        method: target.includes('console-bridge') ? 'POST' : 'GET',
        headers: [['x-forwarded-for', client], JSON_TYPE],
      });
    for (const path of ['items', 'console-bridge/shop.read']) {
      for (const as of [null, 'wrong', 'dev-service:a:shop.read']) {
        const [waiting, live] = await Promise.all(
          ['inner', 'live'].map(async (module) => {
            const response = await from(OUTSIDE, `/modules/${module}/http/${path}`, as);
            const { detail, errors, next_actions } = expectProblem(response, 403, 'forbidden');
            return JSON.stringify({ detail, errors, next_actions }).replace(module, 'NAME');
          }),
        );
        expect(waiting).to.equal(live);
      }
      expectProblem(await from(INSIDE, `/modules/inner/http/${path}`, null), 401);
    }
    expectProblem(await from(INSIDE, '/modules/inner/http/items', 'dev-service:a'), 503);
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
