import { rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { canLimitProcesses, limitProcess } from '../../support/chaos/process-limits.js';
import { rejectStart } from '../../support/cli/reject-start.js';
import { runModgate } from '../../support/cli/run-modgate.js';
import { startLoad } from '../../support/cluster/constant-load.js';
import { createCpuGroup } from '../../support/cluster/cpu-group.js';
import { describeShop, ITEM } from '../../support/cluster/use-workers.js';
import { WHO, WHO_MODULE } from '../../support/cluster/who-module.js';
import {
  countLines,
  isAlive,
  listWorkers,
  TIMEOUT_MS,
  waitForLine,
} from '../../support/cluster/worker-log.js';
import { call } from '../../support/http/call.js';
import { useHostProcess } from '../../support/http/use-host.js';
import { waitUntil } from '../../support/http/wait-until.js';
import { scrape } from '../../support/observability/exposition.js';
import { type HostProcess, startHostProcess } from '../../support/start-host.js';

const CALLERS = 4;

/** Runs a script before the host and each worker. */
function preload(script: string): Record<string, string> {
  return { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(script)}` };
}

const IN_WORKERS = "import cluster from 'node:cluster'; if (cluster.isWorker) ";

describe('a worker that exits', () => {
  const setup = useHostProcess(({ url }) => ({ 'shop.json': describeShop(url) }), {
    args: ['--workers', '2'],
  });
  /** Waits until this many workers are replaced, counted from the call. */
  const beginReplacement = (count: number) => {
    const { host } = setup;
    const ready = countLines(host, 'worker ready') + count;
    return { done: () => waitForLine(host, 'worker ready', ready) };
  };

  it('is replaced, and only its own requests fail', async () => {
    const { host } = setup;
    const [victim = 0] = listWorkers(host);
    const load = startLoad(host, ITEM);
    await waitUntil('load', () => load.answered > 100, TIMEOUT_MS);
    const replacement = beginReplacement(1);
    process.kill(victim, 'SIGKILL');
    await waitForLine(host, 'worker exited unexpectedly');
    await replacement.done();
    const atExit = load.answered;
    await waitUntil('load again', () => load.answered > atExit + 100, TIMEOUT_MS);
    const { failures } = await load.stop();
    expect(failures.length).to.be.at.most(CALLERS);
    expect(listWorkers(host)).to.have.length(2).and.not.include(victim);
  });

  it('is replaced when its process is stopped, and others take the connections it was given', async () => {
    const { host } = setup;
    const [victim = 0] = listWorkers(host);
    const replacement = beginReplacement(1);
    process.kill(victim, 'SIGSTOP');
    const calls = Promise.all(Array.from({ length: CALLERS }, () => call(host, { target: ITEM })));
    await waitForLine(host, 'worker unresponsive');
    await replacement.done();
    for (const { status } of await calls) expect(status).to.equal(200);
    const unresponsive = host.logs().find(({ msg }) => msg === 'worker unresponsive');
    expect(unresponsive).to.include({ level: 'error', pid: victim });
    expect(isAlive(victim)).to.equal(false);
    for (let count = 0; count < CALLERS; count += 1) {
      expect((await call(host, { target: ITEM })).status).to.equal(200);
    }
  });

  it('keeps the counters of its last report and the assigned port, also when all exit', async () => {
    const { host } = setup;
    const ok = { module: 'shop', status: '200' };
    const countOk = async () => (await scrape(host)).sum('modgate_requests_total', ok);
    const before = await countOk();
    for (let count = 0; count < 10; count += 1) {
      expect((await call(host, { target: ITEM })).status).to.equal(200);
    }
    expect(await countOk()).to.equal(before + 10);
    const replacement = beginReplacement(2);
    for (const pid of listWorkers(host)) process.kill(pid, 'SIGKILL');
    await replacement.done();
    expect(await countOk()).to.equal(before + 10);
    expect((await call(host, { target: ITEM })).status).to.equal(200);
  });
});

describe('a worker for which the system has no process', () => {
  const setup = useHostProcess(({ url }) => ({ 'shop.json': describeShop(url) }), {
    args: ['--workers', '2'],
  });

  it('is tried again until there is one, and a drain does not wait for it', async function () {
    if (!canLimitProcesses()) this.skip();
    const { host } = setup;
    const [victim = 0] = listWorkers(host);
    const ready = countLines(host, 'worker ready');
    limitProcess(host.pid, 'nofile', 3);
    process.kill(victim, 'SIGKILL');
    await waitForLine(host, 'worker exited unexpectedly', 3);
    const [, failed] = host.logs().filter(({ msg }) => msg === 'worker exited unexpectedly');
    expect(failed?.['reason']).to.equal('no process can be created: EMFILE');
    limitProcess(host.pid, 'nofile', 'unlimited');
    await waitForLine(host, 'worker ready', ready + 1);
    expect((await call(host, { target: ITEM })).status).to.equal(200);
    expect(await host.stop()).to.deep.equal({ code: 0, signal: null });
  });
});

describe('workers', () => {
  const doomed = join(tmpdir(), `modgate-doomed-${process.pid}`);
  let host: HostProcess;

  before(async () => {
    const isDoomed = `(await import('node:fs')).existsSync(${JSON.stringify(doomed)})`;
    const script = `${IN_WORKERS} if (${isDoomed}) process.kill(process.pid, 'SIGKILL')`;
    const args = ['--workers', '2'];
    host = await startHostProcess({ files: WHO_MODULE, args, env: preload(script) });
  });

  after(() => host.kill());

  it('are replaced with a backoff when they exit repeatedly', async () => {
    const [victim = 0] = listWorkers(host);
    // Its successors exit before they load anything.
    writeFileSync(doomed, '');
    process.kill(victim, 'SIGKILL');
    await waitForLine(host, 'worker exited unexpectedly', 6);
    rmSync(doomed);
    const delays = host
      .logs()
      .filter(({ msg }) => msg === 'worker exited unexpectedly')
      .map(({ restart_ms }) => restart_ms);
    expect(delays).to.deep.equal([0, 0, 0, 0, 1000, 2000]);
    expect((await call(host, { target: WHO })).status).to.equal(200);
    await waitForLine(host, 'worker ready', 3);
  });

  it('do not outlive a killed primary', async () => {
    const pids = listWorkers(host);
    expect(pids).to.have.length(2);
    await host.kill();
    await waitUntil('all workers to exit', () => !pids.some(isAlive), TIMEOUT_MS);
  });
});

describe('start of modgate serve --workers', () => {
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

  it('fails with an invalid number', async () => {
    for (const value of ['0', '-1', '65', 'many', '1.5', '']) {
      const { code, stderr } = await rejectStart(['serve', '--workers', value]);
      expect(code, value).to.equal(2);
      expect(stderr).to.equal('modgate: --workers must be a whole number from 1 to 64, or auto\n');
    }
  });

  it('fails on a port that is in use, with one line on stderr', async () => {
    const occupant = createServer();
    await new Promise<void>((resolve) => occupant.listen(0, '127.0.0.1', resolve));
    const { port } = occupant.address() as AddressInfo;
    const { code, stdout, stderr } = await serve(['--workers', '2', '--port', String(port)]);
    occupant.close();
    expect(stderr).to.equal(`modgate: --port: 127.0.0.1:${port} is already in use\n`);
    expect(code).to.equal(2);
    expect(stdout).to.not.include('listening');
  });

  it('fails with an invalid configuration', async () => {
    const args = ['--workers', '2', '--env', 'production', '--port', '0'];
    const { code, stderr } = await serve(args);
    expect(code).to.equal(2);
    expect(stderr).to.match(/^modgate: [^\n]*no authenticator is configured[^\n]*\n$/);
  });

  it('fails when no worker starts', async () => {
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

  it('succeeds with auto and logs the number of workers', async () => {
    host = await startHostProcess({ args: ['--workers', 'auto'] });
    const listening = host.logs().find(({ msg }) => msg === 'listening');
    expect(listening?.['workers']).to.be.at.least(1);
    expect(countLines(host, 'worker ready')).to.equal(listening?.['workers']);
    expect(await host.stop()).to.deep.equal({ code: 0, signal: null });
  });

  it('starts one worker for each core of the quota of its cgroup', async function () {
    const group = createCpuGroup(1);
    if (group === null) return this.skip();
    try {
      // The group of the starting process is that of the host.
      group.enter();
      host = await startHostProcess({ args: ['--workers', 'auto'] });
    } finally {
      group.leave();
    }
    expect(countLines(host, 'worker ready')).to.equal(1);
    await host.stop();
    group.remove();
  });
});
