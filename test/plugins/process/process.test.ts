import { statSync } from 'node:fs';
import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect } from 'chai';
import type { ProviderOperation } from '../../../core/contract/index.js';
import { textOf } from '../../../core/testkit/adapter-harness.js';
import { createSocketFolder, processAdapter } from '../../../plugins/process/process-adapter.js';
import { whileCollectingGarbage } from '../../support/collect-garbage.js';
import { failureOf } from '../../support/failure-of.js';
import { DEADLINE_MS, waitUntil } from '../../support/http/wait-until.js';
import { createInvocation, eventually, type OpenedProvider, openAdapter } from '../open-adapter.js';
import { command, ECHO, isAlive, STUBBORN } from './child-programs.js';

const NEVER = new AbortController().signal;
const NOT_FOUND =
  'command cannot be started (ENOENT: no such program, no such cwd, or a script whose #! line names no program or ends with CRLF)';

interface Seen {
  readonly pid: number;
  readonly grandchild: number;
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  readonly configured: unknown;
  readonly argument: string;
}

describe('process adapter', () => {
  const opened: OpenedProvider[] = [];

  afterEach(async () => {
    for (const openedProvider of opened.splice(0)) await openedProvider.close();
  });

  const open = async (config: object, options: object = {}) => {
    const running = await openAdapter(
      processAdapter,
      { command: command(ECHO), ...config },
      { paths: { '.': tmpdir() }, ...options },
    );
    opened.push(running);
    return running;
  };

  const rejectionOf = async (config: object): Promise<string> =>
    open(config).then(
      () => expect.fail('expected the command to be refused'),
      (reason: Error) => reason.message,
    );

  const ask = async (
    { provider }: OpenedProvider,
    operation: Partial<ProviderOperation> = {},
    others = {},
  ): Promise<Seen> => {
    return JSON.parse(
      textOf(await provider.invoke(createInvocation(operation as ProviderOperation, others))),
    );
  };

  const endOf = ({ entries }: OpenedProvider) =>
    entries.filter(({ message }) => message === 'process exited');

  it('calls the command over its socket', async () => {
    const running = await open({});
    const body = Buffer.from('{"n": 1.10}');
    const received = await ask(
      running,
      { method: 'POST', target: '/contacts/a%20b?x=%2F', body },
      { headers: { 'x-tenant': 'a', 'content-type': 'application/json' } },
    );
    expect(received).to.include({
      method: 'POST',
      url: '/contacts/a%20b?x=%2F',
      body: '{"n": 1.10}',
    });
    expect(received.headers).to.include({ 'x-tenant': 'a', 'content-type': 'application/json' });
    await running.provider.check(NEVER);
  });

  it('passes only PATH, the variables of the descriptor and its own', async () => {
    process.env['MODGATE_TEST_SECRET'] = 'of the host';
    const env = { TOKEN: 'env:CRM_TOKEN', MODE: 'fast' };
    const running = await open({ env }, { secrets: { 'env:CRM_TOKEN': 's3cret' } });
    delete process.env['MODGATE_TEST_SECRET'];
    const received = await ask(running);
    const { MODGATE_SOCKET: socket = '', ...others } = received.env;
    expect(others).to.deep.equal({
      PATH: process.env['PATH'],
      TOKEN: 's3cret',
      MODE: 'fast',
      MODGATE_MODULE: 'crm',
    });
    expect(statSync(dirname(socket)).mode & 0o777).to.equal(0o700);
    expect(Buffer.byteLength(socket)).to.be.at.most(107);
    expect(received.cwd).to.equal(await realpath(tmpdir()));
    await running.close();
    expect(() => statSync(dirname(socket))).to.throw(/ENOENT/);
  });

  it('restarts the process when it exits; calls in flight are unavailable, new ones wait', async () => {
    const running = await open({});
    const { pid } = await ask(running);
    const hanging = failureOf(running.provider.invoke(createInvocation({ target: '/hang' })));
    const dying = failureOf(running.provider.invoke(createInvocation({ target: '/die' })));
    for (const failure of await Promise.all([hanging, dying])) {
      expect(failure.failure).to.equal('unavailable');
    }
    await eventually(() => endOf(running).length === 1);
    const signal = AbortSignal.timeout(DEADLINE_MS);
    expect((await ask(running, {}, { signal })).pid).not.to.equal(pid);
    expect(endOf(running)[0]?.fields).to.deep.equal({
      pid,
      reason: 'exited with code 3',
      restart_in_ms: 0,
    });
  });

  for (const [what, find] of [
    ['its socket', (socket: string) => socket],
    ['the folder of its socket', dirname],
  ] as const) {
    it(`replaces a process when ${what} was deleted`, async () => {
      const running = await open({});
      const { pid, env } = await ask(running);
      await rm(find(env['MODGATE_SOCKET'] ?? ''), { recursive: true });
      await waitUntil('the new process', async () => {
        // Of two calls at a time one needs a new connection: an open one still leads to the old process.
        const calls = [0, 1].map(() => ask(running).catch(() => null));
        const seen = await Promise.all(calls);
        return seen.every((one) => one !== null && one.pid !== pid);
      });
      expect(endOf(running)[0]?.fields['reason']).to.equal('its socket was deleted');
    });
  }

  it('gives the configuration of the old process to the new one', async () => {
    const running = await open({});
    const operation = {
      kind: 'configure',
      path: '/_config',
      revision: 3,
      values: { 'crm/a': 1 },
    } as const;
    await ask(running, operation);
    await failureOf(running.provider.invoke(createInvocation({ target: '/die' })));
    await eventually(() => endOf(running).length === 1);
    const received = await ask(running, {}, { signal: AbortSignal.timeout(DEADLINE_MS) });
    expect(received.configured).to.deep.equal({ revision: 3, values: { 'crm/a': 1 } });
  });

  it('restarts a command that always exits with backoff, and reports the reason', async () => {
    const running = await open({ command: command('process.exit(5)') });
    await eventually(() => endOf(running).length >= 5);
    const pauses = endOf(running).map(({ fields }) => fields['restart_in_ms']);
    expect(pauses.slice(0, 5)).to.deep.equal([0, 0, 0, 100, 200]);
    let failure = await failureOf(running.provider.invoke(createInvocation()));
    for (let tries = 0; tries < 100 && !/down/.test(failure.message); tries += 1) {
      failure = await failureOf(running.provider.invoke(createInvocation()));
    }
    expect(failure.failure).to.equal('unavailable');
    expect(failure.message).to.match(/down for up to \d+ ms: exited with code 5/);
    expect((await failureOf(running.provider.check(NEVER))).failure).to.equal('unavailable');
  });

  it('restarts a process that does not listen in time; calls still time out', async () => {
    const running = await open({
      command: command('setInterval(() => {}, 1000)'),
      start_timeout_ms: 500,
    });
    const call = running.provider.invoke(createInvocation({}, { signal: AbortSignal.timeout(50) }));
    expect((await failureOf(call)).failure).to.be.oneOf(['timeout', 'unavailable']);
    await eventually(() => endOf(running).length >= 1);
    expect(endOf(running)[0]?.fields['reason']).to.equal(
      'did not listen on its socket within 500 ms',
    );
  });

  it('sends nothing for an aborted call', async () => {
    const running = await open({
      command: command('setInterval(() => {}, 1000)'),
      start_timeout_ms: 100,
    });
    const call = running.provider.invoke(createInvocation({}, { signal: AbortSignal.abort() }));
    expect((await failureOf(call)).failure).to.equal('cancelled');
  });

  it('rejects a missing command, without printing it', async () => {
    for (const config of [
      { command: ['/nowhere/s3cret'] },
      { command: [process.execPath, '-e', ''], cwd: '/nowhere' },
    ]) {
      expect(await rejectionOf(config)).to.equal(NOT_FOUND);
    }
  });

  it('says what may be wrong with a script that cannot be started', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'scripts-'));
    const script = async (text: string, mode: number) => {
      const path = join(folder, 'script');
      await rm(path, { force: true });
      await writeFile(path, text, { mode });
      return rejectionOf({ command: [path] });
    };
    expect(await script('#!/bin/sh\r\nexit 0\r\n', 0o755)).to.equal(NOT_FOUND);
    expect(await script('#!/nowhere/python3\n', 0o755)).to.equal(NOT_FOUND);
    expect(await script('#!/bin/sh\n', 0o644)).to.equal(
      'command cannot be started (EACCES: not executable, a folder, or no access to cwd)',
    );
    await rm(folder, { recursive: true });
  });

  it('keeps its timeouts through garbage collection', () =>
    whileCollectingGarbage(async () => {
      const running = await open({
        command: command('setInterval(() => {}, 1000)'),
        start_timeout_ms: 4_000,
      });
      // The start is over once the shorter timeout of "open" is.
      expect(endOf(running)).to.deep.equal([]);
      await eventually(() => endOf(running).length >= 1);
      expect(endOf(running)[0]?.fields['reason']).to.equal(
        'did not listen on its socket within 4000 ms',
      );
    }));

  it('passes arguments unchanged, without a shell', async () => {
    const argument = '$HOME; exit 1 `id`';
    const running = await open({ command: command(ECHO, argument) });
    expect((await ask(running)).argument).to.equal(argument);
  });

  it('ends the process group with SIGTERM, then SIGKILL', async () => {
    const running = await open({ command: command(STUBBORN) });
    const { pid, grandchild } = await ask(running);
    expect([isAlive(pid), isAlive(grandchild)]).to.deep.equal([true, true]);
    await running.close();
    await eventually(() => !isAlive(pid) && !isAlive(grandchild));
    expect(endOf(running)).to.deep.equal([]);
  });

  it('logs its output with the pid', async () => {
    const running = await open({});
    const { pid } = await ask(running, { target: '/print' });
    const printed = () => running.entries.filter(({ message }) => message === 'printed');
    await eventually(() => printed().length === 2);
    expect(printed()).to.have.deep.members([
      { level: 'info', fields: { pid, stream: 'stdout', line: 'to stdout' }, message: 'printed' },
      { level: 'warn', fields: { pid, stream: 'stderr', line: 'to stderr' }, message: 'printed' },
    ]);
  });

  it('leaves no process and no handle after many opens', async () => {
    const live = async () => {
      const running = await open({});
      opened.pop();
      const { pid } = await ask(running);
      await running.close();
      return pid;
    };
    await live();
    const handles = process.getActiveResourcesInfo().length;
    const pids = await Promise.all(Array.from({ length: 8 }, live));
    expect(pids.filter(isAlive)).to.deep.equal([]);
    await eventually(() => process.getActiveResourcesInfo().length <= handles);
  });

  it('uses a folder with a short path for its socket, or fails', async () => {
    const root = await mkdtemp(join(tmpdir(), 'modgate-long-'));
    const long = join(root, 'x'.repeat(100));
    await mkdir(long);
    const { socketPath, remove } = await createSocketFolder([long, root]);
    expect(dirname(dirname(socketPath))).to.equal(root);
    await remove();
    const failWith = (base: string) =>
      createSocketFolder([base]).then(
        () => expect.fail('expected the path to be refused'),
        (reason: Error) => reason.message,
      );
    expect(await failWith(long)).to.match(/path short enough for a socket \(\d+ bytes/);
    expect(await failWith('/nonexistent')).to.equal(
      'the temporary folder of the host cannot be used (ENOENT): set TMPDIR to a folder that it can write',
    );
    await rm(root, { recursive: true });
  });

  it('validates its config', () => {
    const isValid = (config: object) => processAdapter.config.is({ command: ['a'], ...config });
    for (const good of [
      {},
      { command: ['a', ''] },
      { cwd: './here', env: { A: 'file:./a', B: 'b' }, watch: ['./a.mjs'] },
      { start_timeout_ms: 300_000, manifest_path: '/m.json', health: { path: '/h' } },
    ]) {
      expect(isValid(good), JSON.stringify(good)).to.equal(true);
    }
    for (const bad of [
      { command: 'a b' },
      { command: [] },
      { command: [''] },
      { command: ['a\0'] },
      { command: [1] },
      { cwd: '' },
      { env: { MODGATE_SOCKET: 'x' } },
      { env: ['A=b'] },
      { shell: true },
      { start_timeout_ms: 99 },
      { health: { every: 1 } },
    ]) {
      expect(isValid(bad), JSON.stringify(bad)).to.equal(false);
    }
  });
});
