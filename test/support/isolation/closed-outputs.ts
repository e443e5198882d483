import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { call } from '../http/call.js';
import { waitUntil } from '../http/wait-until.js';
import { MAIN } from '../main-file.js';
import { createFolder } from '../temporary-folder.js';

/** Node.js writes its own warnings to stderr. */
const WARN = 'setInterval(() => process.emitWarning(String(Math.random())), 10).unref();';
/** The limit of the time for the last log lines: a host that waits for it does not stop. */
const NO_TIMEOUT = `const start = globalThis.setTimeout;
globalThis.setTimeout = (run, ms, ...more) => ms === 1000 ? start(run, 2 ** 31 - 1).unref() : start(run, ms, ...more);`;
const REQUESTS = 20;
const START_DEADLINE_MS = 30_000;

/** A reader of the output that ends, as in `modgate serve | head`, does not end the host. */
export function closedOutputsSuite(workers: number): void {
  describe(`a host with ${workers} process${workers > 1 ? 'es' : ''} whose output is closed by its reader`, () => {
    let folder: string;
    let child: ChildProcess;
    let port: number;

    beforeEach(async () => {
      folder = createFolder();
      mkdirSync(join(folder, 'modules.d'));
      const args = ['serve', '--env', 'development', '--host', '127.0.0.1', '--port', '0'];
      args.push('--modules', join(folder, 'modules.d'), '--state', join(folder, 'state'));
      child = spawn(process.execPath, [MAIN, ...args, '--workers', String(workers)], {
        stdio: ['ignore', 'pipe', 'pipe'],
        env: {
          PATH: process.env['PATH'],
          NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(`${WARN}${NO_TIMEOUT}`)}`,
        },
      });
      let output = '';
      child.stdout?.on('data', (text: Buffer) => {
        output += text;
      });
      // A full pipe would block the host: Node.js writes to stderr synchronously.
      child.stderr?.resume();
      const findUrl = () => /"url":"([^"]+)".*"msg":"listening"/.exec(output)?.[1];
      await waitUntil('the host listens', () => findUrl() !== undefined, START_DEADLINE_MS);
      port = Number(new URL(findUrl() ?? '').port);
    });

    afterEach(() => {
      child.kill('SIGKILL');
    });

    for (const names of [['stdout'], ['stderr'], ['stdout', 'stderr']] as const) {
      it(`serves, and stops with 0: ${names.join(' and ')}`, async () => {
        for (const name of names) child[name]?.destroy();
        for (let count = 0; count < REQUESTS; count += 1) {
          expect((await call({ port }, { target: '/modules' })).status).to.equal(200);
        }
        const exit = once(child, 'exit');
        child.kill('SIGTERM');
        expect(await exit).to.deep.equal([0, null]);
      });
    }
  });
}
