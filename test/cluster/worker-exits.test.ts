import { type AddressInfo, createServer } from 'node:net';
import { expect } from 'chai';
import { runModgate } from '../support/cli/run-modgate.js';
import { startLoad } from '../support/cluster/constant-load.js';
import { ITEM, useWorkers } from '../support/cluster/use-workers.js';
import {
  countLines,
  isAlive,
  listWorkers,
  PATIENCE_MS,
  waitForLine,
} from '../support/cluster/worker-log.js';
import { call } from '../support/http/call.js';
import { waitUntil } from '../support/http/wait-until.js';
import { scrape } from '../support/observability/exposition.js';
import { type RunningHost, startHost } from '../support/start-host.js';

const CALLERS = 4;

/** A module that has Node run this first, in the host and in each worker. */
function preload(script: string): Record<string, string> {
  return { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(script)}` };
}

const IN_WORKERS = "import cluster from 'node:cluster'; if (cluster.isWorker) ";

describe('a worker that dies', function () {
  this.timeout(180_000);
  const workers = useWorkers();

  it('is replaced, and takes only the requests with it that it had', async () => {
    const host = await workers.start();
    const [victim = 0] = listWorkers(host);
    const load = startLoad(host, ITEM);
    await waitUntil('load', () => load.answered > 100, PATIENCE_MS);
    process.kill(victim, 'SIGKILL');
    await waitForLine(host, 'a worker died');
    await waitForLine(host, 'a worker serves', 3);
    const atDeath = load.answered;
    await waitUntil('load again', () => load.answered > atDeath + 100, PATIENCE_MS);
    const { failures } = await load.stop();
    expect(failures.length).to.be.at.most(CALLERS);
    expect(listWorkers(host)).to.have.length(2).and.not.include(victim);
    expect(await host.stop()).to.deep.equal({ code: 0, signal: null });
  });

  it('leaves behind what it had counted until somebody last asked', async () => {
    const host = await workers.start();
    for (let count = 0; count < 10; count += 1) {
      expect((await call(host, { target: ITEM })).status).to.equal(200);
    }
    const ok = { module: 'shop', status: '200' };
    expect((await scrape(host)).sum('modgate_requests_total', ok)).to.equal(10);
    for (const pid of listWorkers(host)) process.kill(pid, 'SIGKILL');
    await waitForLine(host, 'a worker serves', 4);
    expect((await scrape(host)).sum('modgate_requests_total', ok)).to.equal(10);
  });

  it('keeps the port that was picked when all of them die', async () => {
    const host = await workers.start();
    for (const pid of listWorkers(host)) process.kill(pid, 'SIGKILL');
    await waitForLine(host, 'a worker serves', 4);
    expect((await call(host, { target: ITEM })).status).to.equal(200);
  });

  it('is no more replaced at once when it dies again and again', async () => {
    const host = await workers.start();
    for (let deaths = 1; deaths <= 6; deaths += 1) {
      const [victim = 0] = listWorkers(host);
      process.kill(victim, 'SIGKILL');
      await waitForLine(host, 'a worker died', deaths);
      if (deaths < 6) await waitForLine(host, 'a worker serves', 2 + deaths);
    }
    const delays = host
      .logs()
      .filter(({ msg }) => msg === 'a worker died')
      .map(({ restart_ms }) => restart_ms);
    expect(delays).to.deep.equal([0, 0, 0, 0, 1000, 2000]);
    expect((await call(host, { target: ITEM })).status).to.equal(200);
  });

  it('leaves no process behind when the host itself is killed', async () => {
    const host = await workers.start();
    const pids = listWorkers(host);
    await host.kill();
    await waitUntil('all have gone', () => !pids.some(isAlive), PATIENCE_MS);
  });
});

describe('modgate serve --workers refuses to start', function () {
  this.timeout(120_000);
  let host: RunningHost | undefined;

  afterEach(async () => {
    await host?.kill();
    host = undefined;
  });

  const serve = (args: readonly string[], env: Readonly<Record<string, string>> = {}) =>
    runModgate(
      ['serve', '--env', 'development', '--modules', 'modules.d', '--status-files', 'off', ...args],
      { MODGATE_STATE: '/nonexistent/state', ...env },
    );

  it('with a number that is none, or too great', async () => {
    for (const value of ['0', '-1', '65', 'many', '1.5', '']) {
      const { code, stdout, stderr } = await serve(['--workers', value]);
      expect({ code, stdout }, value).to.deep.equal({ code: 2, stdout: '' });
      expect(stderr).to.equal('modgate: --workers must be a whole number from 1 to 64, or auto\n');
    }
  });

  it('on a port that is in use, in one line', async () => {
    const taken = createServer();
    await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve));
    const { port } = taken.address() as AddressInfo;
    const { code, stdout, stderr } = await serve(['--workers', '2', '--port', String(port)]);
    taken.close();
    expect(stderr).to.equal(`modgate: --port: 127.0.0.1:${port} is already in use\n`);
    expect(code).to.equal(2);
    expect(stdout).to.not.include('listening');
  });

  it('with what no worker can start with', async () => {
    const args = ['--workers', '2', '--env', 'production', '--port', '0'];
    const { code, stderr } = await serve(args);
    expect(code).to.equal(2);
    expect(stderr).to.match(/^modgate: [^\n]*no authenticator is configured[^\n]*\n$/);
  });

  it('when no worker comes up', async () => {
    const { code, stdout, stderr } = await serve(
      ['--workers', '2', '--port', '0'],
      preload(`${IN_WORKERS} process.kill(process.pid, 'SIGKILL')`),
    );
    expect({ code, stderr }).to.deep.equal({ code: 1, stderr: '' });
    const lines = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(lines.filter(({ msg }) => msg === 'a worker died')).to.have.length(5);
    const last = lines.at(-1) as { level: string; err: { message: string } };
    expect(last.level).to.equal('fatal');
    expect(last.err.message).to.equal('no worker came up: 5 died before they served');
  });

  it('takes auto, and logs how many serve', async () => {
    host = await startHost({ args: ['--workers', 'auto'] });
    const listening = host.logs().find(({ msg }) => msg === 'listening');
    expect(listening?.['workers']).to.be.at.least(1);
    expect(countLines(host, 'a worker serves')).to.equal(listening?.['workers']);
    expect(await host.stop()).to.deep.equal({ code: 0, signal: null });
  });
});
