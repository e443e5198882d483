import { expect } from 'chai';
import { callMany, expectNoConnections, expectRecovery } from '../../support/chaos/at-rest.js';
import { type Fault, type FaultProxy, startFaultProxy } from '../../support/fault-proxy.js';
import { expectProblem, reasonOf } from '../../support/http/expect-problem.js';
import { callItems, describeItems } from '../../support/provider/routes.js';
import { answerJson, type ScriptedProvider, startProvider } from '../../support/provider.js';
import { type HostProcess, startHostProcess } from '../../support/start-host.js';

const TIMEOUT_MS = 2_000;
const LOAD = { callers: 8, forMs: 800 };
const BODY_BYTES = 40_000;
/** An offset inside the body of a response of this size. */
const IN_BODY = 20_000;

interface Case {
  readonly fault: Fault;
  readonly isFlapping?: boolean;
  /** The calls that succeed. */
  readonly passes: 'none' | 'some' | 'all';
}

const CASES: readonly Case[] = [
  { fault: { kind: 'latency', ms: 100 }, passes: 'all' },
  { fault: { kind: 'latency', ms: 2 * TIMEOUT_MS }, passes: 'none' },
  { fault: { kind: 'bandwidth', bytesPerSecond: 2_000 }, passes: 'none' },
  { fault: { kind: 'refuse' }, passes: 'none' },
  { fault: { kind: 'hang_up' }, passes: 'none' },
  { fault: { kind: 'reset', afterBytes: IN_BODY }, passes: 'none' },
  { fault: { kind: 'half_close', afterBytes: IN_BODY }, passes: 'none' },
  { fault: { kind: 'blackhole' }, passes: 'none' },
  { fault: { kind: 'corrupt', atByte: IN_BODY }, passes: 'none' },
  { fault: { kind: 'trickle', bytes: 10, everyMs: 20 }, passes: 'none' },
  { fault: { kind: 'refuse' }, isFlapping: true, passes: 'some' },
  { fault: { kind: 'reset', afterBytes: IN_BODY }, isFlapping: true, passes: 'some' },
  { fault: { kind: 'blackhole' }, isFlapping: true, passes: 'some' },
];

describe('many calls over a faulty provider connection', () => {
  let provider: ScriptedProvider;
  let proxy: FaultProxy;
  let host: HostProcess;

  before(async () => {
    provider = await startProvider(answerJson({ items: 'x'.repeat(BODY_BYTES) }));
    proxy = await startFaultProxy(provider.port);
    const breaker = { failures: 5, open_ms: 200, max_open_ms: 400 };
    const more = { limits: { timeout_ms: TIMEOUT_MS }, breaker };
    const files = { 'm.json': describeItems('m', { endpoints: [proxy.url] }, more) };
    host = await startHostProcess({ files });
  });

  after(async () => {
    await host?.kill();
    await proxy?.stop();
    await provider?.stop();
  });

  for (const { fault, isFlapping = false, passes } of CASES) {
    const details = Object.values(fault).join(' ');
    const title = isFlapping ? `${details}, flapping` : details;
    it(`return 200 or a clear 502 and recover, with ${title}`, async () => {
      if (isFlapping) proxy.flap(fault, 60);
      else await proxy.set(fault);
      const statuses = await callMany(host, 'm', LOAD);
      await proxy.set({ kind: 'none' });
      if (passes === 'all') expect([...statuses.keys()]).to.deep.equal([200]);
      if (passes === 'none') expect([...statuses.keys()]).to.deep.equal([502]);
      await expectRecovery(host, 'm');
    });
  }

  it('return 200 with a low but sufficient bandwidth', async () => {
    await proxy.set({ kind: 'bandwidth', bytesPerSecond: 2 * BODY_BYTES });
    const from = performance.now();
    const response = await callItems(host, 'm');
    await proxy.set({ kind: 'none' });
    expect(response.status).to.equal(200);
    expect(response.body.toString()).to.include('x'.repeat(BODY_BYTES));
    expect(performance.now() - from, 'the bandwidth was not limited').to.be.greaterThan(300);
  });

  it('time out with an insufficient bandwidth', async () => {
    await proxy.set({ kind: 'bandwidth', bytesPerSecond: 2_000 });
    const problem = expectProblem(await callItems(host, 'm'), 502);
    await proxy.set({ kind: 'none' });
    expect(reasonOf(problem, 'failure')).to.equal('timeout');
    await expectRecovery(host, 'm');
  });

  it('leave no connection open', async () => {
    await expectNoConnections(() => proxy.connections);
    await expectNoConnections(() => provider.sockets.size);
  });
});
