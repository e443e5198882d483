import { hash } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { type AddressInfo, connect, createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { expect } from 'chai';
import { rejectStart } from '../support/cli/reject-start.js';
import { runModgate } from '../support/cli/run-modgate.js';
import { startEchoProvider } from '../support/echo-provider.js';
import { describeModule } from '../support/http/modules.js';
import { waitUntil } from '../support/http/wait-until.js';
import type { Environment } from '../support/open-host.js';
import {
  type HostOptions,
  type HostProcess,
  type RunningHost,
  startHost,
  startHostProcess,
} from '../support/start-host.js';
import { createFolder } from '../support/temporary-folder.js';
import { use } from '../support/use.js';

describe('start of modgate serve', () => {
  let folder = '';
  let modules = '';

  before(() => {
    folder = createFolder();
    modules = join(folder, 'modules.d');
    mkdirSync(modules);
    writeFileSync(join(folder, 'tokens.json'), '{"tokens":[]}', { mode: 0o600 });
  });

  const describeStart = (args: readonly string[]) => [
    ...['serve', '--modules', modules, '--state', join(folder, 'state'), '--port', '0'],
    ...args,
  ];

  async function rejectionOf(args: readonly string[], env: Environment = {}, run = rejectStart) {
    const { code, stdout, stderr } = await run(describeStart(args), env);
    expect({ code, stdout }, stderr).to.deep.equal({ code: 2, stdout: '' });
    expect(stderr).to.match(/^modgate: [^\n]+\n$/);
    return stderr.slice('modgate: '.length, -1);
  }

  const development = ['--env', 'development'];

  it('fails in production without an authenticator', async () => {
    expect(await rejectionOf([], {}, runModgate)).to.include('no authenticator is configured');
    expect(await rejectionOf([], { MODGATE_ENV: 'production' })).to.include('--tokens FILE');
  });

  it('fails with dev tokens beyond loopback', async () => {
    for (const host of ['0.0.0.0', '::']) {
      const rejection = await rejectionOf([...development, '--host', host]);
      expect(rejection).to.include('--allow-dev-auth-anywhere');
    }
  });

  it('fails without its folder of descriptors', async () => {
    const missing = join(folder, 'missing');
    expect(await rejectionOf([...development, '--modules', missing])).to.equal(
      `--modules must be a folder that can be read: ${missing} does not exist`,
    );
    const file = join(folder, 'tokens.json');
    expect(await rejectionOf([...development, '--modules', file])).to.include('is not a folder');
  });

  it('fails with a file as its state folder', async () => {
    const file = join(folder, 'tokens.json');
    const problem = `--state must be a folder: ${file} is not a folder`;
    expect(await rejectionOf([...development, '--state', file])).to.equal(problem);
    const checked = await runModgate(['serve', '--check', ...development, '--state', file]);
    expect(checked.code).to.equal(1);
    expect(checked.stdout).to.include(problem);
    expect(await rejectionOf([...development, '--state', join(file, 'state')])).to.equal(problem);
  });

  it('fails with a state folder that can never be created', async function () {
    if (process.platform !== 'linux' || process.getuid?.() !== 0) return this.skip();
    const args = [...development, '--state', '/proc/state'];
    const problem = '--state must be a folder: /proc takes no new files';
    expect(await rejectionOf(args)).to.equal(problem);
    expect((await runModgate(['serve', '--check', ...args])).stdout).to.include(problem);
  });

  it('fails without its folder of plugins', async () => {
    const missing = join(folder, 'missing');
    const rejection = await rejectionOf(development, { MODGATE_PLUGINS: missing });
    expect(rejection).to.match(/^MODGATE_PLUGINS must be a folder .* does not exist$/);
  });

  it('fails with a missing or invalid tokens file', async () => {
    const missing = join(folder, 'missing.json');
    expect(await rejectionOf(['--tokens', missing])).to.equal(`${missing} does not exist`);
    const bad = join(folder, 'bad.json');
    writeFileSync(bad, '{\n "tokens": [],\n "more": "s3cret"\n}', { mode: 0o600 });
    const rejection = await rejectionOf(['--tokens', bad]);
    expect(rejection).to.include(`${bad}:3:2 unknown key 'more'`).and.not.to.include('s3cret');
  });

  it('fails with an invalid value, and names its source', async () => {
    const config = join(folder, 'config.yaml');
    writeFileSync(config, 'drain-ms: soon\n');
    expect(await rejectionOf(['--config', config])).to.equal(
      `drain-ms in ${config}:1:1 must be a whole number from 0 to 2147483647, written as a number`,
    );
    const rejection = await rejectionOf([], { MODGATE_LOG_LEVEL: 'loud' });
    expect(rejection).to.match(/^MODGATE_LOG_LEVEL must be one of trace, /);
  });

  it('fails on a port that is in use', async () => {
    const occupant = createServer();
    await listen(occupant);
    const { port } = occupant.address() as AddressInfo;
    const rejection = await rejectionOf([...development, '--port', String(port)], {}, runModgate);
    occupant.close();
    expect(rejection).to.equal(`--port: 127.0.0.1:${port} is already in use`);
  });

  it('fails on an address of another machine', async () => {
    // TEST-NET-1 (RFC 5737) is assigned to no machine.
    const rejection = await rejectionOf([
      '--tokens',
      join(folder, 'tokens.json'),
      '--host',
      '192.0.2.1',
    ]);
    expect(rejection).to.equal('--host: 192.0.2.1:0 is not an address of this machine');
  });
});

function listen(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
}

describe('modgate serve', () => {
  let host: RunningHost | undefined;

  const provider = use(startEchoProvider);

  afterEach(async () => {
    await host?.kill();
    host = undefined;
    provider.reset();
  });

  async function start(options: HostOptions = {}): Promise<HostProcess> {
    const running = await startHostProcess({ ...options, files: describeFiles() });
    host = running;
    return running;
  }

  /** Runs in the process of the test. */
  async function startHere(options: HostOptions = {}): Promise<RunningHost> {
    host = await startHost({ ...options, files: describeFiles() });
    return host;
  }

  function describeFiles() {
    const routes = [{ method: 'GET', path: '/items', capability: 'crm.read' }];
    return { 'crm.json': describeModule('crm', provider.url, routes) };
  }

  function call(running: RunningHost): Promise<Response> {
    return fetch(`${running.url}/modules/crm/http/items`, {
      headers: { authorization: 'Bearer dev-service:probe:crm.read' },
    });
  }

  /** Resolves when the call has reached the provider, which delays its response. */
  async function callSlowly(running: RunningHost, delayMs: number) {
    provider.answer({ delayMs });
    const status = call(running).then(
      (response) => response.status,
      () => 0,
    );
    await waitUntil('the call to reach the provider', () => provider.requests.length > 0);
    return { status };
  }

  function signal(running: HostProcess, name: NodeJS.Signals): void {
    process.kill(running.pid, name);
  }

  function lastMessage(running: RunningHost): unknown {
    return running.logs().at(-1)?.['msg'];
  }

  for (const name of ['SIGTERM', 'SIGINT'] as const) {
    it(`exits with 0 at a ${name} without losing log lines`, async () => {
      const running = await start();
      const calls = 50;
      const responses = await Promise.all(Array.from({ length: calls }, () => call(running)));
      expect(responses.map(({ status }) => status)).to.deep.equal(Array(calls).fill(200));
      expect(await running.stop(name)).to.deep.equal({ code: 0, signal: null });
      const messages = running.logs().map(({ msg }) => msg);
      expect(messages.filter((message) => message === 'request')).to.have.length(calls);
      expect(messages.at(-1)).to.equal('stopped');
      const draining = running.logs().find(({ msg }) => msg === 'draining');
      expect(draining).to.include({ signal: name });
    });
  }

  it('finishes the request in flight, accepts no other and exits with 0', async () => {
    const running = await start();
    const { status } = await callSlowly(running, 400);
    const stopped = running.stop();
    await waitUntil('connections to be rejected', () => isRefused(running));
    expect(await status).to.equal(200);
    expect(await stopped).to.deep.equal({ code: 0, signal: null });
  });

  it('closes requests that have not finished within --drain-ms', async () => {
    const running = await startHere({ args: ['--drain-ms', '100'] });
    const { status } = await callSlowly(running, 60_000);
    const began = Date.now();
    expect(await running.stop()).to.deep.equal({ code: 0, signal: null });
    // Less than the default.
    expect(Date.now() - began).to.be.within(100, 9000);
    expect(await status).to.equal(0);
    const line = running.logs().find(({ msg }) => msg === 'request');
    expect(line).to.include({
      status: 499,
      failure: 'cancelled',
      failure_detail: 'cut off: the host stopped',
    });
  });

  it('continues to serve without being ready for --drain-delay-ms', async () => {
    const running = await startHere({ args: ['--drain-delay-ms', '5000'] });
    expect((await fetch(`${running.url}/readyz`)).status).to.equal(200);
    const stopped = running.stop();
    await waitUntil('503', async () => {
      return (await fetch(`${running.url}/readyz`)).status === 503;
    });
    expect((await fetch(`${running.url}/livez`)).status).to.equal(200);
    expect((await call(running)).status).to.equal(200);
    expect(await stopped).to.deep.equal({ code: 0, signal: null });
  });

  it('exits immediately with 1 at a second signal', async () => {
    const running = await start();
    await callSlowly(running, 60_000);
    signal(running, 'SIGTERM');
    await waitUntil('the drain', () => lastMessage(running) === 'draining');
    expect(await running.stop('SIGINT')).to.deep.equal({ code: 1, signal: null });
  });

  it('continues to serve after a SIGHUP', async () => {
    const running = await start();
    const lines = running.logs().length;
    signal(running, 'SIGHUP');
    await waitUntil('a log line', () => running.logs().length > lines);
    expect((await call(running)).status).to.equal(200);
  });

  it('starts in spite of a SIGHUP during the start', async () => {
    const signalAtStart = `process.on('newListener', (name) => {
      if (name === 'SIGTERM') process.kill(process.pid, 'SIGHUP');
    })`;
    const preload = `data:text/javascript,${encodeURIComponent(signalAtStart)}`;
    const running = await start({ env: { NODE_OPTIONS: `--import ${preload}` } });
    expect((await call(running)).status).to.equal(200);
  });

  it('continues to serve after a SIGUSR2, which only restarts workers', async () => {
    const running = await start();
    signal(running, 'SIGUSR2');
    await waitUntil('a log line', () => lastMessage(running) === 'restart ignored');
    expect((await call(running)).status).to.equal(200);
  });

  it('does not open the inspector at a SIGUSR1 in production', async () => {
    const args = ['--workers', '2'];
    const running = await start({ dev: false, tokens: { tokens: [] }, args });
    const pids = running.logs().flatMap(({ msg, pid }) => (msg === 'worker ready' ? [pid] : []));
    expect(pids).to.have.length(2);
    for (const pid of [running.pid, ...pids]) process.kill(Number(pid), 'SIGUSR1');
    const isOff = ({ msg }: Record<string, unknown>) => msg === 'inspector is off in production';
    await waitUntil('three log lines', () => running.logs().filter(isOff).length === 3);
    expect(await running.stop()).to.deep.equal({ code: 0, signal: null });
    expect(running.output()).to.not.include('Debugger');
  });

  const UNCAUGHT: Readonly<Record<string, string>> = {
    'uncaught exception': 'throw new Error("uncaught")',
    'unhandled rejection': 'Promise.reject(new Error("uncaught"))',
  };
  for (const [msg, statement] of Object.entries(UNCAUGHT)) {
    it(`logs an ${msg} and exits with 1`, async () => {
      const script = `process.on('SIGUSR2', () => { ${statement} })`;
      const running = await start({
        env: { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(script)}` },
      });
      expect(await running.stop('SIGUSR2')).to.deep.equal({ code: 1, signal: null });
      const last = running.logs().at(-1);
      expect(last).to.include({ level: 'fatal', msg });
      expect(last?.['err']).to.include({ type: 'Error', message: 'uncaught' });
    });
  }

  it('writes JSON lines on stdout and nothing on stderr', async () => {
    const running = await start();
    const line = running.logs().find(({ msg }) => msg === 'listening') ?? {};
    expect(Object.keys(line)).to.deep.equal(['level', 'time', 'url', 'msg']);
    expect(line['url']).to.match(/^http:\/\/127\.0\.0\.1:\d+$/);
    await running.stop();
    const stdout = running.logs().map((entry) => entry['msg']);
    expect(running.output().trim().split('\n')).to.have.length(stdout.length);
  });

  it('writes the line listening at every level, and no other without cause', async () => {
    for (const level of ['warn', 'fatal', 'silent']) {
      const running = await start({ args: ['--log-level', level] });
      const { url } = running;
      expect(running.logs(), level).to.have.length(1);
      expect(running.logs()[0]).to.include({ level: 'info', msg: 'listening', url });
      await running.stop();
      expect(running.logs(), level).to.have.length(1);
    }
  });

  it('accepts tokens of the tokens file in production and rejects dev tokens', async () => {
    const sha256 = hash('sha256', 'open-sesame');
    const tokens = { tokens: [{ id: 'a', kind: 'service', scopes: ['crm.read'], sha256 }] };
    const running = await startHere({ dev: false, tokens });
    const status = async (token: string) => {
      const headers = { authorization: `Bearer ${token}` };
      return (await fetch(`${running.url}/modules/crm/http/items`, { headers })).status;
    };
    expect(await status('open-sesame')).to.equal(200);
    expect(await status('dev-service:probe:crm.read')).to.equal(401);
  });
});

/** Whether a new connection is rejected. */
function isRefused(running: RunningHost): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(running.port, '127.0.0.1');
    socket.once('error', () => resolve(true));
    socket.once('connect', () => {
      socket.destroy();
      resolve(false);
    });
  });
}
