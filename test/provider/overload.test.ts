import type { ServerResponse } from 'node:http';
import { expect } from 'chai';
import { headerValue, type ReceivedResponse } from '../../core/selftest/raw-http.js';
import { call } from '../support/http/call.js';
import { expectProblem, reasonOf } from '../support/http/expect-problem.js';
import { waitUntil } from '../support/http/wait-until.js';
import { callItems, describeItems, findLine, readModule } from '../support/provider/routes.js';
import { startProvider } from '../support/provider.js';
import { type RunningHost, startHost, startHostProcess } from '../support/start-host.js';
import { useEach } from '../support/use.js';

/** More than the default. */
const QUEUE_MS = 1_000;

describe('limits of concurrency', () => {
  let host: RunningHost;
  const held: ServerResponse[] = [];
  let isHolding = true;

  const describeHost = (limits: object, args: readonly string[] = []) => {
    const config = { endpoints: [provider.url] };
    const files = {
      'm.json': describeItems('m', config, { limits }),
      'other.json': describeItems('other', config),
    };
    return { args, files };
  };
  const start = async (limits: object, args?: readonly string[]) => {
    host = await startHost(describeHost(limits, args));
  };

  const provider = useEach(() => {
    isHolding = true;
    return startProvider((_request, response) => {
      response.setHeader('content-type', 'application/json');
      if (isHolding) held.push(response);
      else response.end('{}');
    });
  });

  afterEach(async () => {
    await host.kill();
    held.length = 0;
  });

  const release = () => {
    for (const response of held.splice(0)) response.end('{}');
  };
  const expectOverload = (response: ReceivedResponse, limit: string) => {
    const problem = expectProblem(response, 502);
    expect(reasonOf(problem, 'failure')).to.equal('overloaded');
    expect(reasonOf(problem, 'limit')).to.equal(limit);
    expect(headerValue(response.headers, 'retry-after')).to.match(/^[1-9][0-9]*$/);
    return problem;
  };

  it('rejects a call of a full module at once, without calling the provider', async () => {
    await start({ concurrency: 2, queue: 0 });
    const calls = [callItems(host, 'm'), callItems(host, 'm')];
    await waitUntil('two calls', () => held.length === 2);
    const { request_id } = expectOverload(await callItems(host, 'm'), 'limits.concurrency');
    expect(provider.requests).to.have.length(2);
    release();
    for (const call of calls) expect((await call).status).to.equal(200);
    await waitUntil('the log line', () => findLine(host, request_id) !== undefined);
    expect(findLine(host, request_id)).to.include({ failure: 'overloaded', attempts: 0 });
    isHolding = false;
    expect((await callItems(host, 'm')).status).to.equal(200);
    expect((await readModule(host, 'm')).endpoints[0]).to.include({ state: 'up', failures: 0 });
  });

  it('serves queued calls in turn', async () => {
    await start({ concurrency: 1, queue: 2, queue_ms: 5_000 });
    const order: number[] = [];
    const calls = [];
    for (const number of [1, 2, 3]) {
      calls.push(callItems(host, 'm').then(() => order.push(number)));
      await waitUntil('its place', async () => {
        const { in_flight, queued } = (await readModule(host, 'm')).counts;
        return in_flight + queued === number;
      });
    }
    expect((await readModule(host, 'm')).counts).to.include({ in_flight: 1, queued: 2 });
    expectOverload(await callItems(host, 'm'), 'limits.concurrency');
    for (const served of [1, 2, 3]) {
      await waitUntil('the call', () => held.length === 1);
      expect(provider.requests).to.have.length(served);
      release();
      await waitUntil('the answer', () => order.length === served);
    }
    await Promise.all(calls);
    expect(order).to.deep.equal([1, 2, 3]);
    expect((await readModule(host, 'm')).counts).to.include({ in_flight: 0, queued: 0, failed: 1 });
  });

  it('lets actors take turns in the queue, and rejects the newest call of the largest', async () => {
    await start({ concurrency: 1, queue: 2, queue_ms: 10_000 });
    const order: string[] = [];
    const begin = async (actor: string, inQueue: number) => {
      const as = `dev-service:${actor}:items.use`;
      const answer = call(host, { target: '/modules/m/http/items', as }).then(({ status }) =>
        order.push(`${actor} ${status}`),
      );
      await waitUntil('its place', async () => {
        const { in_flight, queued } = (await readModule(host, 'm')).counts;
        return in_flight === 1 && queued === inQueue;
      });
      return { answer };
    };
    const calls = [await begin('ann', 0), await begin('ann', 1), await begin('ann', 2)];
    calls.push(await begin('bob', 2));
    await waitUntil('the rejection', () => order.length === 1);
    for (const served of [2, 3, 4]) {
      await waitUntil('the call', () => held.length === 1);
      release();
      await waitUntil('the answer', () => order.length === served);
    }
    await Promise.all(calls.map(({ answer }) => answer));
    expect(order).to.deep.equal(['ann 502', 'ann 200', 'ann 200', 'bob 200']);
  });

  it('rejects a call that has waited for queue_ms', async () => {
    await start({ concurrency: 1, queue: 8, queue_ms: QUEUE_MS });
    const first = callItems(host, 'm');
    await waitUntil('the first call', () => held.length === 1);
    const from = performance.now();
    expectOverload(await callItems(host, 'm'), 'limits.concurrency');
    expect(performance.now() - from).to.be.at.least(QUEUE_MS - 20);
    release();
    expect((await first).status).to.equal(200);
  });

  it('rejects calls of every module at the limit of the host', async () => {
    await start({}, ['--max-in-flight', '2']);
    const calls = [callItems(host, 'm'), callItems(host, 'other')];
    await waitUntil('two calls', () => held.length === 2);
    expectOverload(await callItems(host, 'm'), 'max-in-flight');
    expectOverload(await callItems(host, 'other'), 'max-in-flight');
    expect(provider.requests).to.have.length(2);
    release();
    for (const call of calls) expect((await call).status).to.equal(200);
  });

  it('rejects calls while the event loop is late, and accepts them afterwards', async () => {
    const process = await startHostProcess(describeHost({}, ['--shed-delay-ms', '20']));
    host = process;
    isHolding = false;
    const isServed = async () => (await callItems(host, 'm')).status === 200;
    await waitUntil('a call that is served', isServed);
    const ease = makeLate(process.pid);
    try {
      await waitUntil('a call that is shed', async () => {
        const response = await callItems(host, 'm');
        if (response.status === 200) return false;
        expectOverload(response, 'shed-delay-ms');
        return true;
      });
    } finally {
      ease();
    }
    await waitUntil('a call that is served again', isServed);
  });
});

/** Stops a process again and again for longer than it runs: its event loop is late, and all else is well. */
function makeLate(pid: number): () => void {
  const STOPPED_MS = 60;
  const RUNNING_MS = 10;
  let timer: NodeJS.Timeout;
  const stop = () => {
    process.kill(pid, 'SIGSTOP');
    timer = setTimeout(go, STOPPED_MS);
  };
  const go = () => {
    process.kill(pid, 'SIGCONT');
    timer = setTimeout(stop, RUNNING_MS);
  };
  stop();
  return () => {
    clearTimeout(timer);
    process.kill(pid, 'SIGCONT');
  };
}
