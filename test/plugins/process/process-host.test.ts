import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { buildManifest, toRoutes } from '../../support/http/modules.js';
import { waitUntil } from '../../support/http/wait-until.js';
import {
  type RunningHost,
  type RunningModgate,
  startHost,
  startModgate,
} from '../../support/start-host.js';
import { createFolder } from '../../support/temporary-folder.js';
import { command, ECHO, isAlive, STUBBORN } from './child-programs.js';

interface Answer {
  readonly status: number;
  readonly data: { readonly pid: number; readonly grandchild?: number; readonly argument?: string };
}

describe('processes of a running host', () => {
  const hosts: RunningHost[] = [];

  afterEach(async () => {
    for (const host of hosts.splice(0)) await host.kill();
  });

  const start = async (files: Readonly<Record<string, string | object>>) => {
    const host = await startHost({ files });
    hosts.push(host);
    return host;
  };

  const ask = async (host: RunningModgate, path = 'fine'): Promise<Answer> => {
    const response = await fetch(`${host.url}/modules/child/http/${path}`, {
      headers: { authorization: 'Bearer dev-service:caller:use' },
    });
    return { ...((await response.json()) as Answer), status: response.status };
  };

  it('replaces the process of a changed descriptor without failed calls, and ends the old one', async () => {
    const host = await start({ 'child.json': describeChild(command(ECHO, 'v0')) });
    let isOver = false;
    const answers: Answer[] = [];
    const callers = Array.from({ length: 4 }, async () => {
      while (!isOver) answers.push(await ask(host));
    });
    for (const version of ['v1', 'v2', 'v3']) {
      host.drop('child.json', describeChild(command(ECHO, version)));
      await waitUntil(`${version} serves`, () =>
        answers.some(({ data }) => data?.argument === version),
      );
    }
    isOver = true;
    await Promise.all(callers);
    expect(answers.filter(({ status }) => status !== 200)).to.deep.equal([]);
    const pids = [...new Set(answers.map(({ data }) => data.pid))];
    expect(pids).to.have.length(4);
    await waitUntil('one is left', () => pids.filter(isAlive).length === 1);
    await host.stop();
    await waitUntil('none is left', () => !pids.some(isAlive));
  }).timeout(60_000);

  it('restarts the process when a watched file changes', async () => {
    const program = (word: string) => ECHO.replace('process.argv[1]', `'${word}'`);
    const argv = [process.execPath, './child.mjs'];
    const host = await start({
      'code/child.mjs': program('one'),
      'child.json': describeChild(argv, { cwd: './code', watch: ['./code/child.mjs'] }),
    });
    expect((await ask(host)).data.argument).to.equal('one');
    host.drop('code/child.mjs', program('two'));
    await waitUntil('the new code serves', async () => (await ask(host)).data?.argument === 'two');
  }).timeout(60_000);

  it('shows a process that always exits as an endpoint that is down', async () => {
    const host = await start({ 'child.json': describeChild(command('process.exit(5)')) });
    await waitUntil('the endpoint is down', async () => {
      const response = await fetch(`${host.url}/modules`, {
        headers: { authorization: 'Bearer dev-system:ops' },
      });
      const { modules } = (await response.json()) as {
        modules: { state: string; endpoints: { endpoint: string; state: string }[] }[];
      };
      const [entry] = modules;
      return entry?.state === 'live' && entry.endpoints[0]?.state === 'down';
    });
    expect((await ask(host)).status).to.equal(502);
    const findDown = () => host.logs().find(({ msg }) => msg === 'endpoint down');
    await waitUntil('the line', () => findDown() !== undefined);
    expect(findDown()?.['reason']).to.match(/exited with code 5/);
    expect(await host.stop()).to.deep.equal({ code: 0, signal: null });
  }).timeout(60_000);

  it('ends its process by the end of stdin when the host is killed', async () => {
    const host = await start({ 'child.json': describeChild(command(ECHO)) });
    const { data } = await ask(host);
    expect(isAlive(data.pid)).to.equal(true);
    await host.kill();
    await waitUntil('the process is gone', () => !isAlive(data.pid));
  }).timeout(60_000);

  it('starts beside a process that outlived a killed host', async () => {
    const directory = createFolder();
    writeFileSync(join(directory, 'child.json'), JSON.stringify(describeChild(command(STUBBORN))));
    const args = ['serve', '--env', 'development', '--port', '0', '--modules', directory];
    const state = ['--state', join(directory, '.state')];
    const first = await startModgate([...args, ...state]);
    const stale = (await ask(first)).data;
    await first.kill();
    const second = await startModgate([...args, ...state]);
    const fresh = (await ask(second)).data;
    expect(isAlive(stale.pid)).to.equal(true);
    expect(fresh.pid).not.to.equal(stale.pid);
    expect(await second.stop()).to.deep.equal({ code: 0, signal: null });
    const { pid, grandchild = 0 } = fresh;
    await waitUntil('both are gone', () => !isAlive(pid) && !isAlive(grandchild));
    process.kill(-stale.pid, 'SIGKILL');
  }).timeout(60_000);
});

function describeChild(argv: readonly string[], overrides: object = {}): object {
  return {
    module: 'child',
    provider: { kind: 'process', config: { command: argv, ...overrides } },
    manifest: { inline: buildManifest('child', toRoutes(['GET /fine'], 'use')) },
    retry: { attempts: 0 },
    breaker: { failures: 100 },
  };
}
