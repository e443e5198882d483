import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { type Backend, createPostgresBackend, requirePostgres } from '../../store/backend.js';
import { readDocumentedBlocks } from '../../support/docs/documented-commands.js';
import { createGuideFolder, type GuideFolder } from '../../support/docs/guide-folder.js';
import { findFreePort } from '../../support/free-port.js';
import { waitUntil } from '../../support/http/wait-until.js';

const PAGE = 'docs/operate/fleet.md';
const DEADLINE_MS = 60_000;
const PORTS = [3000, 3001, 3002, 3003];
const STORE = 'postgres://postgres@127.0.0.1:5432/test';

describe(`the steps of ${PAGE}`, () => {
  const children: ChildProcess[] = [];
  let backend: Backend | undefined;
  let folder: GuideFolder | undefined;

  before(async function () {
    await requirePostgres(this);
    if (spawnSync('haproxy', ['-v']).error === undefined) return;
    const message = 'needs haproxy: apt-get install haproxy';
    if (process.env['CI'] === 'true') throw new Error(message);
    console.log(`      skipped: ${message}`);
    this.skip();
  });

  const stopAll = async () => {
    for (const child of children.splice(0)) {
      const ended = once(child, 'exit');
      if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
      await ended;
    }
  };
  after(async () => {
    await stopAll();
    folder?.remove();
    await backend?.dispose();
  });

  it('lead from one host to three behind a load balancer', async () => {
    const guide = createGuideFolder();
    folder = guide;
    backend = createPostgresBackend();
    cpSync('modules.d', join(guide.path, 'modules.d'), { recursive: true });
    const ports = new Map<number, number>();
    for (const port of PORTS) ports.set(port, await findFreePort());
    const store = backend.url ?? '';
    const adapt = (text: string) =>
      text
        .replaceAll(STORE, store)
        .replace(/\b300[0-3]\b/g, (port) => `${ports.get(Number(port))}`);
    const isReady = (port: number | undefined) =>
      fetch(`http://127.0.0.1:${port}/readyz`).then(
        ({ ok }) => ok,
        () => false,
      );
    const start = async (line: string) => {
      const options = { cwd: guide.path, stdio: 'ignore', detached: true } as const;
      children.push(spawn('bash', ['-c', line], options));
      const [, port] = /--port (\d+)/.exec(line) ?? [];
      const target = port === undefined ? ports.get(3000) : Number(port);
      await waitUntil(line, () => isReady(target), DEADLINE_MS);
    };
    const outputs: string[] = [];
    // The test of releases runs the blocks from there on.
    const blocks = readDocumentedBlocks(PAGE);
    const end = blocks.findIndex(({ body }) => body.includes('modgate publish'));
    expect(end).to.be.above(0);
    for (const block of blocks.slice(0, end)) {
      const body = adapt(block.body);
      if (block.kind === 'haproxy') writeFileSync(join(guide.path, 'haproxy.cfg'), body);
      else if (block.kind === 'yaml') {
        // The one host of the steps before has ended.
        await stopAll();
        expect(guide.writeFile({ ...block, body })).to.equal('fleet.yaml');
      } else if (block.kind === 'sh' && /^(?:npx modgate serve|haproxy)/.test(body)) {
        for (const line of body.trim().split('\n')) await start(line);
      } else if (block.kind === 'sh') outputs.push(await guide.run(body));
    }
    const [called = '', listed = '', waited = ''] = outputs;
    expect(JSON.parse(called)).to.have.property('data');
    expect(listed.match(/ready/g)).to.have.length(3);
    expect(waited).to.include('notes is served by 3 hosts');
  });
});
