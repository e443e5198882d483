import { type AddressInfo, createServer } from 'node:net';
import { expect } from 'chai';
import { runModgate } from '../support/cli/run-modgate.js';
import { startLoad } from '../support/cluster/constant-load.js';
import { ITEM, useWorkers } from '../support/cluster/use-workers.js';
import {
  countLines,
  isAlive,
  listWorkers,
  TIMEOUT_MS,
  waitForLine,
} from '../support/cluster/worker-log.js';
import { call } from '../support/http/call.js';
import { waitUntil } from '../support/http/wait-until.js';
import { scrape } from '../support/observability/exposition.js';
import { type HostProcess, startHostProcess } from '../support/start-host.js';

const CALLERS = 4;

/** Runs a script before the host and each worker. */
function preload(script: string): Record<string, string> {
  return { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(script)}` };
}

const IN_WORKERS = "import cluster from 'node:cluster'; if (cluster.isWorker) ";

describe('a worker that exits', function () {
  this.timeout(180_000);
  const workers = useWorkers();

  it('is replaced, and only its own requests fail', async () => {
    const host = await workers.start();
    const [victim = 0] = listWorkers(host);
    const load = startLoad(host, ITEM);
    await waitUntil('load', () => load.answered > 100, TIMEOUT_MS);
    process.kill(victim, 'SIGKILL');
    await waitForLine(host, 'worker exited unexpectedly');
    await waitForLine(host, 'worker ready', 3);
    const atExit = load.answered;
    await waitUntil('load again', () => load.answered > atExit + 100, TIMEOUT_MS);
    const { failures } = await load.stop();
    expect(failures.length).to.be.at.most(CALLERS);
    expect(listWorkers(host)).to.have.length(2).and.not.include(victim);
    expect(await host.stop()).to.deep.equal({ code: 0, signal: null });
  });

  it('is replaced when its process is stopped', async () => {
    const host = await workers.start();
    const [victim = 0] = listWorkers(host);
    process.kill(victim, 'SIGSTOP');
    await waitForLine(host, 'worker unresponsive');
    await waitForLine(host, 'worker ready', 3);
    const unresponsive = host.logs().find(({ msg }) => msg === 'worker unresponsive');
    expect(unresponsive).to.include({ level: 'error', pid: victim });
    expect(isAlive(victim)).to.equal(false);
    for (let count = 0; count < CALLERS; count += 1) {
      expect((await call(host, { target: ITEM })).status).to.equal(200);
    }
  });

  it('keeps the counters of its last report', async () => {
    const host = await workers.start();
    for (let count = 0; count < 10; count += 1) {
      expect((await call(host, { target: ITEM })).status).to.equal(200);
    }
    const ok = { module: 'shop', status: '200' };
    expect((await scrape(host)).sum('modgate_requests_total', ok)).to.equal(10);
    for (const pid of listWorkers(host)) process.kill(pid, 'SIGKILL');
    await waitForLine(host, 'worker ready', 4);
    expect((await scrape(host)).sum('modgate_requests_total', ok)).to.equal(10);
  });

  it('keeps the assigned port when all workers exit', async () => {
    const host = await workers.start();
    for (const pid of listWorkers(host)) process.kill(pid, 'SIGKILL');
    await waitForLine(host, 'worker ready', 4);
    expect((await call(host, { target: ITEM })).status).to.equal(200);
  });

  it('is replaced with a backoff when it exits repeatedly', async () => {
    const host = await workers.start();
    for (let exits = 1; exits <= 6; exits += 1) {
      const [victim = 0] = listWorkers(host);
      process.kill(victim, 'SIGKILL');
      await waitForLine(host, 'worker exited unexpectedly', exits);
      if (exits < 6) await waitForLine(host, 'worker ready', 2 + exits);
    }
    const delays = host
      .logs()
      .filter(({ msg }) => msg === 'worker exited unexpectedly')
      .map(({ restart_ms }) => restart_ms);
    expect(delays).to.deep.equal([0, 0, 0, 0, 1000, 2000]);
    expect((await call(host, { target: ITEM })).status).to.equal(200);
  });

  it('does not outlive a killed primary', async () => {
    const host = await workers.start();
    const pids = listWorkers(host);
    await host.kill();
    await waitUntil('all workers to exit', () => !pids.some(isAlive), TIMEOUT_MS);
  });
});

describe('modgate serve --workers does not start', function () {
  this.timeout(120_000);
  let host: HostProcess | undefined;

  afterEach(async () => {
    await host?.kill();
    host = undefined;
  });

  const serve = (args: readonly string[], env: Readonly<Record<string, string>> = {}) =>
    runModgate(
      ['serve', '--env', 'development', '--modules', 'modules.d', '--status-files', 'off', ...args],
      { MODGATE_STATE: '/nonexistent/state', ...env },
    );

  it('with an invalid number', async () => {
    for (const value of ['0', '-1', '65', 'many', '1.5', '']) {
      const { code, stdout, stderr } = await serve(['--workers', value]);
      expect({ code, stdout }, value).to.deep.equal({ code: 2, stdout: '' });
      expect(stderr).to.equal('modgate: --workers must be a whole number from 1 to 64, or auto\n');
    }
  });

  it('on a port that is in use, with one line on stderr', async () => {
    const taken = createServer();
    await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve));
    const { port } = taken.address() as AddressInfo;
    const { code, stdout, stderr } = await serve(['--workers', '2', '--port', String(port)]);
    taken.close();
    expect(stderr).to.equal(`modgate: --port: 127.0.0.1:${port} is already in use\n`);
    expect(code).to.equal(2);
    expect(stdout).to.not.include('listening');
  });

  it('with an invalid configuration', async () => {
    const args = ['--workers', '2', '--env', 'production', '--port', '0'];
    const { code, stderr } = await serve(args);
    expect(code).to.equal(2);
    expect(stderr).to.match(/^modgate: [^\n]*no authenticator is configured[^\n]*\n$/);
  });

  it('when no worker starts', async () => {
    const { code, stdout, stderr } = await serve(
      ['--workers', '2', '--port', '0'],
      preload(`${IN_WORKERS} process.kill(process.pid, 'SIGKILL')`),
    );
    expect({ code, stderr }).to.deep.equal({ code: 1, stderr: '' });
    const lines = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(lines.filter(({ msg }) => msg === 'worker exited unexpectedly')).to.have.length(5);
    const last = lines.at(-1) as { level: string; err: { message: string } };
    expect(last.level).to.equal('fatal');
    expect(last.err.message).to.equal('no worker started: 5 exited before they served');
  });

  it('starts with auto and logs the number of workers', async () => {
    host = await startHostProcess({ args: ['--workers', 'auto'] });
    const listening = host.logs().find(({ msg }) => msg === 'listening');
    expect(listening?.['workers']).to.be.at.least(1);
    expect(countLines(host, 'worker ready')).to.equal(listening?.['workers']);
    expect(await host.stop()).to.deep.equal({ code: 0, signal: null });
  });
});
