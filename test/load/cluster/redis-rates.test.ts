import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { Redis } from 'ioredis';
import type { Log } from '../../../core/contract/index.js';
import { LocalRates } from '../../../core/provider/rate-limiter.js';
import { RedisRates } from '../../../core/provider/redis-rates.js';
import { headerValue } from '../../../core/selftest/raw-http.js';
import { startTcpProxy } from '../../store/tcp-proxy.js';
import { type EchoProvider, startEchoProvider } from '../../support/echo-provider.js';
import { call, parseJson } from '../../support/http/call.js';
import { expectProblem } from '../../support/http/expect-problem.js';
import { describeWideModule } from '../../support/http/modules.js';
import { waitUntil } from '../../support/http/wait-until.js';
import { type HostProcess, startHostProcess } from '../../support/start-host.js';

const REDIS_URL = process.env['MODGATE_TEST_REDIS'] ?? 'redis://127.0.0.1:6379';
/** Nothing listens there. */
const NO_REDIS = 'redis://127.0.0.1:1';
const CALLS = 40;
/** Several times the 50 ms that a request waits for Redis. */
const LONG_TURN_MS = 250;
// Refills one call in 1,000 s, which no test waits for.
const SLOW = 0.001;

describe('rates over several hosts', () => {
  const hosts: HostProcess[] = [];
  let provider: EchoProvider;

  before(async function () {
    const client = new Redis(REDIS_URL, { lazyConnect: true, maxRetriesPerRequest: 0 });
    client.on('error', () => {});
    try {
      await client.connect();
    } catch (error) {
      if (process.env['CI'] === 'true') throw error;
      process.stderr.write('    skipped: no Redis at MODGATE_TEST_REDIS\n');
      this.skip();
    } finally {
      client.disconnect();
    }
    provider = await startEchoProvider();
  });

  afterEach(async () => {
    for (const host of hosts.splice(0)) await host.stop();
  });

  after(() => provider?.close());

  const start = async (rate: object, args: readonly string[], module = randomUUID()) => {
    const host = await startHostProcess({
      args,
      files: {
        'crm.json': { ...describeWideModule('crm', provider.url, { rate }), module },
      },
    });
    hosts.push(host);
    return { host, module };
  };
  const ask = (host: HostProcess, module: string) =>
    call(host, { target: `/modules/${module}/http/items`, as: 'dev-service:one:wide.use' });
  const count = async (targets: readonly { host: HostProcess; module: string }[]) => {
    const statuses: number[] = [];
    for (let index = 0; index < CALLS; index += 1) {
      const { host, module } = targets[index % targets.length] as (typeof targets)[number];
      statuses.push((await ask(host, module)).status);
    }
    return statuses.filter((status) => status === 200).length;
  };

  it('hold over two hosts, one of them with workers', async () => {
    const rate = { actor_per_second: SLOW, actor_burst: 20, shared: true };
    const first = await start(rate, ['--redis', REDIS_URL]);
    const second = await start(rate, ['--redis', REDIS_URL, '--workers', '2'], first.module);
    expect(await count([first, second])).to.be.within(19, 20);
    const rejected = await ask(first.host, first.module);
    expectProblem(rejected, 429);
    expect(headerValue(rejected.headers, 'ratelimit')).to.match(/^"module-actor";r=0;t=\d+$/);
  });

  it('are separate by host where they are not shared', async () => {
    const rate = { actor_per_second: SLOW, actor_burst: 5 };
    const first = await start(rate, ['--redis', REDIS_URL]);
    const second = await start(rate, ['--redis', REDIS_URL], first.module);
    expect(await count([first, second])).to.equal(10);
  });

  it('are the share of the host, open or closed while Redis does not answer', async () => {
    const rate = { per_second: SLOW, burst: 8, shared: true };
    const share = await start(rate, ['--redis', NO_REDIS]);
    expect(await count([share])).to.equal(8);
    const open = await start({ ...rate, on_loss: 'open' }, ['--redis', NO_REDIS]);
    expect(await count([open])).to.equal(CALLS);
    const closed = await start({ ...rate, on_loss: 'closed' }, ['--redis', NO_REDIS]);
    const answer = await ask(closed.host, closed.module);
    expectProblem(answer, 503, 'unavailable');
    expect(headerValue(answer.headers, 'retry-after')).to.match(/^\d+$/);
    const warnings = share.host.logs().filter(({ msg }) => String(msg).startsWith('redis'));
    expect(warnings).to.have.length(1);
  });

  it('divide a lost limit by the processes that shared it, and count in Redis again after it', async () => {
    const database = 9;
    const { hostname, port } = new URL(REDIS_URL);
    const proxy = await startTcpProxy({ host: hostname, port: Number(port || 6379) });
    const client = new Redis(REDIS_URL, { db: database });
    await client.flushdb();
    const args = ['--redis', `redis://127.0.0.1:${proxy.port}/${database}`];
    const rate = { per_second: SLOW, burst: 8, shared: true };
    const first = await start(rate, args);
    const second = await start(rate, args, first.module);
    // A process knows the others when it has announced itself once more.
    const listPresent = () => client.zrange('modgate::processes', '0', '-1', 'WITHSCORES');
    await waitUntil('both processes', async () => (await listPresent()).length === 4);
    const before = new Set(await listPresent());
    await waitUntil('one more announcement of each', async () => {
      const scores = (await listPresent()).filter((_, index) => index % 2 === 1);
      return scores.every((score) => !before.has(score));
    });
    expect((await ask(first.host, first.module)).status).to.equal(200);
    await proxy.cut();
    expect(await count([first, second])).to.equal(8);
    await proxy.restore();
    await waitUntil('tokens that are left in Redis', async () => {
      return (await ask(second.host, second.module)).status === 200;
    });
    client.disconnect();
    await proxy.cut();
  });

  it('count in Redis where a long turn of the event loop delays its answer', async () => {
    const warnings: unknown[] = [];
    const log: Log = { debug() {}, info() {}, warn: (fields) => warnings.push(fields), error() {} };
    const options = { url: REDIS_URL, fleet: randomUUID(), local: new LocalRates(), log };
    const rates = await RedisRates.open(options);
    try {
      const limiter = rates.create('module', { perSecond: SLOW, burst: 8 }, 'closed');
      const waitMs = limiter.take('');
      const end = performance.now() + LONG_TURN_MS;
      while (performance.now() < end);
      expect(await waitMs).to.equal(0);
      expect(warnings).to.deep.equal([]);
    } finally {
      rates.close();
    }
  });

  it('are an error of the descriptor on a host without Redis', async () => {
    const { host } = await start({ per_second: 1, shared: true }, []);
    const { modules } = parseJson(await call(host, { target: '/modules' })) as unknown as {
      modules: { state: string; reason: string; hint: string }[];
    };
    expect(modules[0]?.state).to.equal('refused');
    expect(modules[0]?.reason).to.include('rate.shared is true, but the host has no Redis');
    expect(modules[0]?.hint).to.include('--redis');
  });
});
