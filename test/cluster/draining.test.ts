import { expect } from 'chai';
import { WHO, WHO_MODULE } from '../support/cluster/who-module.js';
import {
  countLines,
  isAlive,
  listWorkers,
  PATIENCE_MS,
  signal,
  waitForLine,
} from '../support/cluster/worker-log.js';
import { call, parseJson } from '../support/http/call.js';
import { expectProblem } from '../support/http/expect-problem.js';
import { waitUntil } from '../support/http/wait-until.js';
import { type RunningHost, startHost } from '../support/start-host.js';

const IN_FLIGHT = 6;

describe('draining workers', function () {
  this.timeout(120_000);
  let host: RunningHost;

  const start = async (...args: string[]) => {
    host = await startHost({ args: ['--workers', '2', ...args], files: WHO_MODULE });
  };
  /** Calls that are under way and take so long: the process that answers each, or `null`. */
  const begin = async (ms: number) => {
    const calls = Array.from({ length: IN_FLIGHT }, () =>
      call(host, { target: `${WHO}/${ms}`, deadlineMs: PATIENCE_MS }).then(
        (response) => (parseJson(response)['data'] as { pid: number }).pid,
        () => null,
      ),
    );
    const inFlight = async () => {
      const answer = parseJson(await call(host, { target: '/modules' }));
      const [who] = answer['modules'] as [{ counts: { in_flight: number } }];
      return who.counts.in_flight;
    };
    await waitUntil('the calls', async () => (await inFlight()) === IN_FLIGHT, PATIENCE_MS);
    return { calls: Promise.all(calls) };
  };

  afterEach(() => host.kill());

  for (const name of ['SIGTERM', 'SIGINT'] as const) {
    it(`finishes what is in flight on all of them at a ${name}, and says so once`, async () => {
      await start();
      const workers = listWorkers(host);
      const { calls } = await begin(2000);
      // As a terminal does, and a service manager: the whole group gets it.
      for (const pid of workers) process.kill(pid, name);
      expect(await host.stop(name)).to.deep.equal({ code: 0, signal: null });
      expect(new Set(await calls)).to.deep.equal(new Set(workers));
      expect(countLines(host, 'draining')).to.equal(1);
      expect(host.logs().at(-1)?.['msg']).to.equal('stopped');
      for (const pid of workers) expect(isAlive(pid), `worker ${pid}`).to.equal(false);
    });
  }

  it('cuts what has not finished within --drain-ms', async () => {
    await start('--drain-ms', '100');
    const { calls } = await begin(PATIENCE_MS);
    expect(await host.stop()).to.deep.equal({ code: 0, signal: null });
    expect(await calls).to.deep.equal(Array(IN_FLIGHT).fill(null));
  });

  it('is not ready, on any of them, for --drain-delay-ms', async () => {
    await start('--drain-delay-ms', '3000');
    const readiness = () => call(host, { target: '/readyz', as: null });
    expect((await readiness()).status).to.equal(200);
    const stopped = host.stop();
    await waitUntil('503', async () => (await readiness()).status === 503);
    expectProblem(await readiness(), 503, 'unavailable');
    expectProblem(await readiness(), 503, 'unavailable');
    expect((await call(host, { target: WHO })).status).to.equal(200);
    expect(await stopped).to.deep.equal({ code: 0, signal: null });
  });

  it('ends at once, with 1 and all workers, at a second signal', async () => {
    await start();
    const workers = listWorkers(host);
    const { calls } = await begin(PATIENCE_MS);
    signal(host, 'SIGTERM');
    await waitForLine(host, 'draining');
    expect(await host.stop()).to.deep.equal({ code: 1, signal: null });
    expect(await calls).to.deep.equal(Array(IN_FLIGHT).fill(null));
    await waitUntil('all have gone', () => !workers.some(isAlive), PATIENCE_MS);
  });
});
