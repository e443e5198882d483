import { expect } from 'chai';
import { call } from '../../support/http/call.js';
import { describeWideModule } from '../../support/http/modules.js';
import { useHostProcess } from '../../support/http/use-host.js';

const CALLS = 40;
// Refills one call in 1,000 s, which no test waits for.
const SLOW = 0.001;

describe('the rates of a host with two workers', () => {
  const setup = useHostProcess(
    (provider) => ({
      'all.json': {
        ...describeWideModule('crm', provider.url, { rate: { per_second: SLOW, burst: 20 } }),
        module: 'all',
      },
      'each.json': {
        ...describeWideModule('crm', provider.url, {
          rate: { actor_per_second: SLOW, actor_burst: 10 },
        }),
        module: 'each',
      },
      'free.json': { ...describeWideModule('crm', provider.url), module: 'free' },
    }),
    { args: ['--workers', '2', '--actor-rate', String(SLOW), '--actor-burst', '30'] },
  );

  /** Each call has a connection of its own, so that both workers serve. */
  const countPassed = async (module: string, actor: (index: number) => string) => {
    const calls = Array.from({ length: CALLS }, async (_, index) => {
      const as = `dev-service:${actor(index)}:wide.use`;
      return (await call(setup.host, { target: `/modules/${module}/http/items`, as })).status;
    });
    return (await Promise.all(calls)).filter((status) => status === 200).length;
  };

  it('hold over both: of an actor', async () => {
    expect(await countPassed('each', () => 'one')).to.be.within(8, 10);
  });

  it('hold over both: of a module', async () => {
    expect(await countPassed('all', (index) => `caller-${index}`)).to.be.within(18, 20);
  });

  it('hold over both: of an actor on the host', async () => {
    expect(await countPassed('free', () => 'two')).to.be.within(27, 30);
  });
});
