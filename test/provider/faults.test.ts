import { expect } from 'chai';
import { type Fault, startFaultProxy } from '../support/fault-proxy.js';
import { expectProblem, reasonOf } from '../support/http/expect-problem.js';
import { waitUntil } from '../support/http/wait-until.js';
import { callItems, describeItems, findLine } from '../support/provider/routes.js';
import { answerJson, startProvider } from '../support/provider.js';
import { startHost } from '../support/start-host.js';
import { use } from '../support/use.js';

const TIMEOUT_MS = 500;
/** An offset inside the body of a response of Node with `date` and `connection`. */
const IN_BODY = 200;
const ANSWER = { items: 'x'.repeat(400) };

interface Case {
  readonly title: string;
  readonly fault: Fault;
  readonly failure: string;
  /** The number of attempts of a GET with two retries. */
  readonly attempts: number;
  readonly providerStatus?: string;
  /** Whether the fault is detected only by the timeout. */
  readonly isSlow?: boolean;
}

const CASES: readonly Case[] = [
  { title: 'is refused', fault: { kind: 'refuse' }, failure: 'unavailable', attempts: 3 },
  {
    title: 'is reset before the request is through',
    fault: { kind: 'hang_up' },
    failure: 'unavailable',
    attempts: 3,
  },
  {
    title: 'is reset before the status line',
    fault: { kind: 'reset' },
    failure: 'unavailable',
    attempts: 3,
  },
  {
    title: 'is closed before the status line',
    fault: { kind: 'half_close' },
    failure: 'unavailable',
    attempts: 3,
  },
  {
    title: 'is reset inside the status line',
    fault: { kind: 'reset', afterBytes: 6 },
    failure: 'protocol',
    attempts: 1,
  },
  {
    title: 'is reset inside the body',
    fault: { kind: 'reset', afterBytes: IN_BODY },
    failure: 'protocol',
    attempts: 1,
    providerStatus: '200',
  },
  {
    title: 'is closed inside the body',
    fault: { kind: 'half_close', afterBytes: IN_BODY },
    failure: 'protocol',
    attempts: 1,
    providerStatus: '200',
  },
  {
    title: 'garbles the status line',
    fault: { kind: 'corrupt', atByte: 0 },
    failure: 'protocol',
    attempts: 1,
  },
  {
    title: 'swallows everything',
    fault: { kind: 'blackhole' },
    failure: 'timeout',
    attempts: 1,
    isSlow: true,
  },
  {
    title: 'is slower than the time-out',
    fault: { kind: 'latency', ms: 2 * TIMEOUT_MS },
    failure: 'timeout',
    attempts: 1,
    isSlow: true,
  },
  {
    title: 'drips past the time-out, from its first byte on',
    fault: { kind: 'trickle', bytes: 2, everyMs: 10 },
    failure: 'timeout',
    attempts: 1,
    isSlow: true,
  },
];

describe('a way to the provider that', () => {
  const provider = use(() => startProvider(answerJson(ANSWER)));
  const proxy = use(() => startFaultProxy(provider.port));
  const host = use(() => {
    const more = { limits: { timeout_ms: TIMEOUT_MS }, breaker: { failures: 1000 } };
    const files = { 'm.json': describeItems('m', { endpoints: [proxy.url] }, more) };
    return startHost({ files });
  });

  afterEach(async () => {
    await proxy.set({ kind: 'none' });
    const { status } = await callItems(host, 'm');
    expect(status, 'the first call after the fault').to.equal(200);
  });

  const fault = async (method: string, { failure, isSlow, providerStatus }: Case) => {
    const from = performance.now();
    const response = await callItems(host, 'm', { method });
    const durationMs = performance.now() - from;
    const problem = expectProblem(response, 502);
    expect(reasonOf(problem, 'failure')).to.equal(failure);
    expect(reasonOf(problem, 'provider_status')).to.equal(providerStatus);
    if (isSlow) expect(durationMs).to.be.at.least(TIMEOUT_MS - 20);
    return problem.request_id;
  };
  const expectAttempts = async (requestId: string, attempts: number) => {
    await waitUntil('the log line', () => findLine(host, requestId) !== undefined);
    expect(findLine(host, requestId)).to.include({ attempts });
  };

  for (const testCase of CASES) {
    it(`${testCase.title} is a 502 with ${testCase.failure} for a GET, ${testCase.attempts} attempts`, async () => {
      // On a connection that is open already, and on those that must be made.
      await callItems(host, 'm');
      await proxy.set(testCase.fault);
      await expectAttempts(await fault('GET', testCase), testCase.attempts);
    });

    it(`${testCase.title} is a 502 with ${testCase.failure} for a POST, 1 attempt`, async () => {
      await proxy.set(testCase.fault);
      await expectAttempts(await fault('POST', testCase), 1);
    });
  }

  it('is slow, but within the time-out, serves calls', async () => {
    await proxy.set({ kind: 'latency', ms: TIMEOUT_MS / 4 });
    expect((await callItems(host, 'm')).status).to.equal(200);
    await proxy.set({ kind: 'trickle', bytes: 200, everyMs: 10 });
    expect((await callItems(host, 'm')).status).to.equal(200);
  });

  it('flaps gives each client a response, and leaves nothing behind', async () => {
    proxy.flap({ kind: 'refuse' }, 30);
    const statuses = new Map<number, number>();
    const end = performance.now() + 1_500;
    const caller = async () => {
      while (performance.now() < end || !statuses.has(200)) {
        const { status } = await callItems(host, 'm');
        statuses.set(status, (statuses.get(status) ?? 0) + 1);
      }
    };
    await Promise.all([caller(), caller(), caller()]);
    await proxy.set({ kind: 'none' });
    expect([...statuses.keys()]).to.have.members(
      [200, 502].filter((status) => statuses.has(status)),
    );
    // Those that are idle close after the keep-alive time of the host (4 s).
    await waitUntil('only idle connections', () => proxy.connections <= 3);
  });
});
