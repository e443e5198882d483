import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { findFreePort } from '../support/free-port.js';
import { waitUntil } from '../support/http/wait-until.js';
import { createFolder } from '../support/temporary-folder.js';

const MAIN = fileURLToPath(new URL('../../core/main.js', import.meta.url));
const START_MS = 60_000;
const CALLS = 10;
const AS = { authorization: 'Bearer dev-service:test:jobs.run' };

/** Each call starts a helper that outlives its parent, as `command &` in a script does. */
const PROGRAM = `
import { spawnSync } from 'node:child_process';
import { createServer } from 'node:http';
createServer((request, response) => {
  spawnSync('/bin/sh', ['-c', 'sleep 0.05 &']);
  response.setHeader('content-type', 'application/json').end('{}');
}).listen(process.env.MODGATE_SOCKET);
process.stdin.resume().on('end', () => process.exit());
`;

const JOBS = {
  apiVersion: 'modgate/v1',
  module: 'jobs',
  provider: {
    kind: 'process',
    config: { command: [process.execPath, '--input-type=module', '-e', PROGRAM] },
  },
  manifest: {
    inline: {
      protocol: 'modgate.manifest.v1',
      module_id: 'jobs',
      capabilities: ['jobs.run'],
      http_routes: [{ method: 'GET', path: '/run', capability: 'jobs.run' }],
    },
  },
};

describe('a container whose process module leaves children behind', () => {
  let folder: string;

  before(function () {
    const missing = ['tini', 'unshare'].find((name) => spawnSync(name, ['--version']).error);
    if (missing === undefined && process.getuid?.() === 0) {
      folder = createFolder();
      mkdirSync(join(folder, 'modules.d'));
      writeFileSync(join(folder, 'modules.d/jobs.json'), JSON.stringify(JOBS));
      return;
    }
    const message = 'needs tini and unshare, and root: apt-get install tini util-linux';
    if (process.env['CI'] === 'true') throw new Error(message);
    console.log(`      skipped: ${message}`);
    this.skip();
  });

  /** Calls the module in a namespace of processes of its own, and counts the zombies in it. */
  const countZombies = async (init: readonly string[]) => {
    const port = await findFreePort();
    const settings = [
      '--port',
      `${port}`,
      '--env',
      'development',
      '--state',
      join(folder, 'state'),
    ];
    const host = [process.execPath, MAIN, 'serve', '--modules', join(folder, 'modules.d')];
    const child = spawn(
      'unshare',
      ['--pid', '--fork', '--kill-child', '--mount-proc', ...init, ...host, ...settings],
      { stdio: 'ignore' },
    );
    try {
      const call = () =>
        fetch(`http://127.0.0.1:${port}/modules/jobs/http/run`, { headers: AS }).then(
          async (response) => {
            await response.arrayBuffer();
            return response.status;
          },
          () => 0,
        );
      await waitUntil('the module', async () => (await call()) === 200, START_MS);
      for (let index = 0; index < CALLS; index += 1) expect(await call()).to.equal(200);
      const isRunning = ({ name, state }: ProcessState) => name === 'sleep' && state !== 'Z';
      await waitUntil('the end of the helpers', () => !listProcesses(child).some(isRunning));
      return listProcesses(child).filter(({ state }) => state === 'Z').length;
    } finally {
      child.kill('SIGKILL');
    }
  };

  it('has no zombie with an init, as compose.yaml and deployment.yaml start one', async () => {
    expect(await countZombies(['tini', '--'])).to.equal(0);
  });

  it('has one for each call where Node.js is the first process', async () => {
    expect(await countZombies([])).to.be.at.least(CALLS);
  });
});

interface ProcessState {
  readonly pid: number;
  readonly parent: number;
  readonly name: string;
  /** One letter of the kernel: `Z` for a zombie. */
  readonly state: string;
}

/** The processes below a child of this process. */
function listProcesses({ pid: root }: ChildProcess): ProcessState[] {
  const all = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap(readProcess);
  const below = new Set([root]);
  // A parent may follow its children.
  for (let size = 0; size !== below.size; ) {
    size = below.size;
    for (const { pid, parent } of all) if (below.has(parent)) below.add(pid);
  }
  return all.filter(({ pid }) => pid !== root && below.has(pid));
}

/** Nothing for a process that has ended meanwhile. */
function readProcess(pid: string): ProcessState[] {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    const [, name = '', state = '', parent] = /^\d+ \((.*)\) (\w) (\d+)/s.exec(stat) ?? [];
    return [{ pid: Number(pid), parent: Number(parent), name, state }];
  } catch {
    return [];
  }
}
