import { expect } from 'chai';
import { WHO, WHO_MODULE } from '../../support/cluster/who-module.js';
import {
  countLines,
  isAlive,
  listWorkers,
  signal,
  TIMEOUT_MS,
  waitForLine,
} from '../../support/cluster/worker-log.js';
import { call, parseJson } from '../../support/http/call.js';
import { expectProblem } from '../../support/http/expect-problem.js';
import { waitUntil } from '../../support/http/wait-until.js';
import { type HostProcess, startHostProcess } from '../../support/start-host.js';

const IN_FLIGHT = 6;

describe('draining workers', () => {
  let host: HostProcess;

  const start = async (...args: string[]) => {
    host = await startHostProcess({ args: ['--workers', '2', ...args], files: WHO_MODULE });
  };
  /** Starts calls that take this long. Each resolves with the pid of its worker, or `null` on failure. */
  const begin = async (ms: number) => {
    const calls = Array.from({ length: IN_FLIGHT }, () =>
      call(host, { target: `${WHO}/${ms}`, deadlineMs: TIMEOUT_MS }).then(
        (response) => (parseJson(response)['data'] as { pid: number }).pid,
        () => null,
      ),
    );
    const inFlight = async () => {
      const answer = parseJson(await call(host, { target: '/modules' }));
      const [module] = answer['modules'] as [{ counts: { in_flight: number } }];
      return module.counts.in_flight;
    };
    await waitUntil('the calls', async () => (await inFlight()) === IN_FLIGHT, TIMEOUT_MS);
    return { calls: Promise.all(calls) };
  };

  afterEach(() => host.kill());

  for (const name of ['SIGTERM', 'SIGINT'] as const) {
    it(`finishes the requests in flight on all of them at a ${name}, and logs it once`, async () => {
      await start();
      const workers = listWorkers(host);
      const { calls } = await begin(2000);
      // Terminals and service managers signal the whole group.
      for (const pid of workers) process.kill(pid, name);
      expect(await host.stop(name)).to.deep.equal({ code: 0, signal: null });
      expect(new Set(await calls)).to.deep.equal(new Set(workers));
      expect(countLines(host, 'draining')).to.equal(1);
      expect(host.logs().at(-1)?.['msg']).to.equal('stopped');
      for (const pid of workers) expect(isAlive(pid), `worker ${pid}`).to.equal(false);
    });
  }

  it('closes requests that have not finished within --drain-ms', async () => {
    await start('--drain-ms', '100');
    const { calls } = await begin(TIMEOUT_MS);
    expect(await host.stop()).to.deep.equal({ code: 0, signal: null });
    expect(await calls).to.deep.equal(Array(IN_FLIGHT).fill(null));
  });

  it('are not ready for --drain-delay-ms', async () => {
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

  it('exit immediately with code 1 on a second signal', async () => {
    await start();
    const workers = listWorkers(host);
    const { calls } = await begin(TIMEOUT_MS);
    signal(host, 'SIGTERM');
    await waitForLine(host, 'draining');
    expect(await host.stop()).to.deep.equal({ code: 1, signal: null });
    expect(await calls).to.deep.equal(Array(IN_FLIGHT).fill(null));
    await waitUntil('all workers to exit', () => !workers.some(isAlive), TIMEOUT_MS);
  });
});
