import { expect } from 'chai';
import { headerValue } from '../../core/selftest/raw-http.js';
import { call } from '../support/http/call.js';
import { expectProblem } from '../support/http/expect-problem.js';
import { describeWideModule } from '../support/http/modules.js';
import { useHost } from '../support/http/use-host.js';

// Refills one call in 1,000 s, which no test waits for.
const SLOW = 0.001;
const A = 'dev-service:a:wide.use';
const PAGE = 'https://app.example';

describe('the headers of rates', () => {
  const setup = useHost(
    (provider) => {
      const limited = (module: string, rate: object, url = provider.url) => ({
        ...describeWideModule('crm', url, { rate }),
        module,
      });
      const rate = { per_second: SLOW, burst: 9, actor_per_second: 2, actor_burst: 4 };
      return {
        'shown.json': limited('shown', { ...rate, headers: true }),
        'down.json': limited('down', { ...rate, headers: true }, 'http://127.0.0.1:1'),
        'quiet.json': limited('quiet', { per_second: SLOW, burst: 1 }),
        'client.json': limited('client', { client_per_second: 0.5, client_burst: 1 }),
        'free.json': limited('free', { headers: true }),
      };
    },
    { args: ['--actor-rate', '0.01', '--actor-burst', '8', '--cors', PAGE] },
  );
  const get = async (module: string, as: string) => {
    const answer = await call(setup.host, {
      target: `/modules/${module}/http/items`,
      as,
      headers: [['origin', PAGE]],
    });
    const read = (name: string) => headerValue(answer.headers, name);
    return { answer, left: read('ratelimit'), policy: read('ratelimit-policy'), read };
  };

  it('state the rest of each limit in every response, if the descriptor requests it', async () => {
    const first = await get('shown', A);
    expect(first.answer.status).to.equal(200);
    expect(first.policy).to.equal('"actor";q=8;w=800, "module-actor";q=4;w=2, "module";q=9;w=9000');
    expect(first.left).to.equal('"actor";r=7;t=100, "module-actor";r=3;t=1, "module";r=8;t=1000');
    const second = await get('shown', 'dev-service:b:wide.use');
    // Seconds pass between the two on a busy machine.
    expect(second.left).to.match(
      /^"actor";r=7;t=100, "module-actor";r=3;t=1, "module";r=7;t=(?:2000|19\d\d)$/,
    );
  });

  it('stand on failures that come after the rates, and not on those before', async () => {
    const failed = await get('down', 'dev-service:c:wide.use');
    expectProblem(failed.answer, 502);
    expect(failed.left).to.match(/^"actor";r=7;t=100, "module-actor";r=3;t=1, "module";r=8;/);
    const denied = await get('shown', 'dev-service:c:other');
    expectProblem(denied.answer, 403);
    expect(denied.left).to.equal(undefined);
  });

  it('name the exceeded limit on every 429, with the time of retry-after', async () => {
    expect((await get('quiet', 'dev-service:d:wide.use')).left).to.equal(undefined);
    const rejected = await get('quiet', 'dev-service:d:wide.use');
    expectProblem(rejected.answer, 429);
    expect(rejected.policy).to.equal('"module";q=1;w=1000');
    expect(rejected.left).to.equal(`"module";r=0;t=${rejected.read('retry-after')}`);
  });

  it('name the limits of the host and of an address', async () => {
    const caller = 'dev-service:e:wide.use';
    await get('client', caller);
    const rejected = await get('client', caller);
    expectProblem(rejected.answer, 429);
    expect(rejected.policy).to.equal('"client";q=1;w=2');
    for (let count = 0; count < 6; count += 1) await get('free', caller);
    const ofHost = await get('free', caller);
    expectProblem(ofHost.answer, 429);
    expect(ofHost.policy).to.equal('"actor";q=8;w=800');
    expect(ofHost.left).to.equal(`"actor";r=0;t=${ofHost.read('retry-after')}`);
  });

  it('can be read by pages of other origins', async () => {
    const { read } = await get('shown', 'dev-service:f:wide.use');
    expect(read('access-control-expose-headers')?.split(', ')).to.include.members([
      'ratelimit',
      'ratelimit-policy',
    ]);
    const without = await get('shown', 'dev-service:g:other');
    expect(without.read('access-control-expose-headers')).to.not.include('ratelimit');
  });
});
