import { expect } from 'chai';
import { ProviderFailure } from '../../core/contract/index.js';
import { waitUntil } from '../support/http/wait-until.js';
import { createFakeModule, type FakeModule } from '../support/provider/fake-module.js';

const HEALTH = { intervalMs: 10, timeoutMs: 1000, failures: 3, successes: 2 };

describe('health checks', () => {
  let module: FakeModule | undefined;
  const down = new Set<string>();
  const checks: string[] = [];
  /** Checks of `a` that found it other than it was thought to be. */
  const contradictions: string[] = [];

  const start = (health: Partial<typeof HEALTH> = {}, endpoints = ['a', 'b']) => {
    module = createFakeModule({
      endpoints,
      balancing: { health: { ...HEALTH, ...health } },
      check: async (_signal, endpoint = '') => {
        checks.push(endpoint);
        const isDown = down.has(endpoint);
        const thought = stateOf(endpoint);
        if (endpoint === 'a' && isDown !== (thought === 'down')) contradictions.push(`${thought}`);
        if (isDown) throw new ProviderFailure('unavailable', 'down');
      },
    });
    return module;
  };
  const stateOf = (id: string) =>
    module?.client.endpoints().find(({ endpoint }) => endpoint === id)?.state;
  const checksOf = (id: string) => checks.filter((endpoint) => endpoint === id).length;

  afterEach(async () => {
    await module?.scope.close();
    down.clear();
    checks.length = 0;
    contradictions.length = 0;
  });

  it('take an endpoint down after consecutive failures, and bring it up again', async () => {
    const { client, call, invocations } = start();
    down.add('a');
    await waitUntil('a is down', () => stateOf('a') === 'down');
    expect(contradictions).to.deep.equal(['up', 'up', 'up']);
    expect(stateOf('b')).to.equal('up');
    for (let round = 0; round < 4; round += 1) await call();
    expect(invocations.map(({ endpoint }) => endpoint)).to.deep.equal(['b', 'b', 'b', 'b']);
    down.clear();
    await waitUntil('a is up', () => stateOf('a') === 'up');
    expect(contradictions).to.deep.equal(['up', 'up', 'up', 'down', 'down']);
    expect(client.endpoints()[0]).to.include({ calls: 0 });
  });

  it('count only consecutive failures', async () => {
    let round = 0;
    module = createFakeModule({
      endpoints: ['a', 'b'],
      balancing: { health: HEALTH },
      check: async (_signal, endpoint) => {
        if (endpoint !== 'a') return;
        round += 1;
        // Two of three fail, never three in a row.
        if (round % HEALTH.failures !== 0) throw new ProviderFailure('unavailable', 'down');
      },
    });
    await waitUntil('twenty checks', () => {
      expect(stateOf('a')).to.equal('up');
      return round >= 20;
    });
  });

  it('run at the start and at every interval', async () => {
    start({ intervalMs: 50 });
    expect(checksOf('a')).to.equal(1);
    const from = performance.now();
    await waitUntil('ten checks', () => checksOf('a') > 10);
    // Ten intervals of 50 ms, each up to a tenth shorter.
    expect(performance.now() - from).to.be.at.least(440);
  });

  it('count a check that hangs as failed, and run one at a time', async () => {
    let running = 0;
    let most = 0;
    module = createFakeModule({
      endpoints: ['a', 'b'],
      balancing: { health: { ...HEALTH, timeoutMs: 15 } },
      check: async (signal, endpoint) => {
        if (endpoint !== 'a') return;
        running += 1;
        most = Math.max(most, running);
        await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
        running -= 1;
        // It heeds the signal and claims to be well all the same.
        await new Promise<void>(() => {});
      },
    });
    await waitUntil('a is down', () => stateOf('a') === 'down');
    expect(most).to.equal(1);
  });

  it('do not block calls when all endpoints are down', async () => {
    const { call } = start();
    down.add('a').add('b');
    await waitUntil('both are down', () => stateOf('a') === 'down' && stateOf('b') === 'down');
    expect(await call()).to.have.property('value', '"fine"');
  });

  it('end with the scope of the module, including a running check', async () => {
    let aborted: unknown;
    module = createFakeModule({
      endpoints: ['a'],
      balancing: { health: HEALTH },
      check: (signal) => {
        checks.push('a');
        return new Promise((_, reject) => {
          signal.addEventListener('abort', () => {
            aborted = signal.reason;
            reject(signal.reason);
          });
        });
      },
    });
    await module.scope.close();
    expect(aborted).to.have.property('failure', 'cancelled');
    const after = checks.length;
    await waitUntil('several intervals', intervals(5));
    expect(checks).to.have.length(after);
  });

  it('do not run for a provider without them', async () => {
    module = createFakeModule({
      endpoints: ['a'],
      balancing: {},
      check: async () => void checks.push('a'),
    });
    await waitUntil('several intervals', intervals(5));
    expect(checks).to.have.length(0);
  });

  const intervals = (count: number) => {
    const end = performance.now() + count * HEALTH.intervalMs;
    return () => performance.now() > end;
  };
});
