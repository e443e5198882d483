import { readdirSync } from 'node:fs';
import { expect } from 'chai';
import { buildManifest, toRoutes } from '../support/http/modules.js';
import { waitUntil } from '../support/http/wait-until.js';
import { type HostProcess, startHostProcess } from '../support/start-host.js';

const PATIENCE_MS = 15_000;

const DEADLY = `
export default async ({ declaredPath }) => {
  switch (declaredPath) {
    case '/exit': process.exit(0);
    case '/throw': setImmediate(() => { throw new Error('uncaught'); }); return new Promise(() => {});
    case '/reject': void Promise.reject(new Error('uncaught')); return new Promise(() => {});
    case '/loop': for (;;);
    case '/memory': { const all = []; for (;;) all.push({ a: [all.length] }); }
    default: console.log('asked'); return { status: 200, body: { env: Object.keys(process.env) } };
  }
};`;
const DEATHS = ['exit', 'throw', 'reject', 'loop', 'memory'];

describe('local modules in a running host', () => {
  let host: HostProcess;

  before(async () => {
    host = await startHostProcess({
      files: {
        'deadly.json': describeModule('deadly', './code/deadly.mjs', [...DEATHS, 'fine']),
        'code/deadly.mjs': DEADLY,
        'good.json': describeModule('good', './code/good.mjs', ['fine']),
        'code/good.mjs': `export default () => ({ status: 200, body: 'good' });`,
      },
    });
  });

  after(async () => {
    expect(await host.stop()).to.deep.equal({ code: 0, signal: null });
  });

  const ask = async (module: string, path: string) => {
    const response = await fetch(`${host.url}/modules/${module}/http/${path}`, {
      headers: { authorization: 'Bearer dev-service:caller:use' },
    });
    const body = (await response.json()) as { data?: unknown; errors?: object[] };
    return { ...body, status: response.status };
  };

  it('does not affect other modules while one crashes in every way', async () => {
    let isOver = false;
    const statuses: number[] = [];
    const others = Array.from({ length: 4 }, async () => {
      while (!isOver) statuses.push((await ask('good', 'fine')).status);
    });
    for (const death of DEATHS) {
      const { status, errors } = await ask('deadly', death);
      expect(status, death).to.equal(502);
      const failure = death === 'loop' ? 'timeout' : 'unavailable';
      expect(errors, death).to.deep.include({ field: 'failure', reason: failure });
      await waitUntil(
        `the module answers after ${death}`,
        async () => (await ask('deadly', 'fine')).status === 200,
        PATIENCE_MS,
      );
    }
    isOver = true;
    await Promise.all(others);
    expect(statuses.length).to.be.greaterThan(50);
    expect(statuses.filter((status) => status !== 200)).to.deep.equal([]);
  }).timeout(120_000);

  it('hides its variables from the module, and logs output with its name', async () => {
    const { data } = await ask('deadly', 'fine');
    expect(data).to.deep.equal({ env: [] });
    await waitUntil('the line is in the log', () =>
      host.logs().some(({ module, line }) => module === 'deadly' && line === 'asked'),
    );
  });

  it('replaces changed code under load, finishes calls on the old thread, and ends it', async () => {
    const write = (version: number) =>
      host.drop(
        'code/slow.mjs',
        `export default async () => { await new Promise((resolve) => setTimeout(resolve, 300)); return { status: 200, body: ${version} }; };`,
      );
    write(0);
    host.drop('slow.json', describeModule('slow', './code/slow.mjs', ['fine']));
    await waitUntil(
      'it serves',
      async () => (await ask('slow', 'fine')).status === 200,
      PATIENCE_MS,
    );
    const threads = countThreads(host.pid);
    let isOver = false;
    const answers: { status: number; data?: unknown }[] = [];
    const callers = Array.from({ length: 8 }, async () => {
      while (!isOver) answers.push(await ask('slow', 'fine'));
    });
    for (let version = 1; version <= 8; version += 1) {
      write(version);
      await waitUntil(
        `version ${version} serves`,
        () => answers.some(({ data }) => data === version),
        PATIENCE_MS,
      );
    }
    isOver = true;
    await Promise.all(callers);
    expect(answers.filter(({ status }) => status !== 200)).to.deep.equal([]);
    await waitUntil(
      'the old threads are gone',
      () => countThreads(host.pid) <= threads,
      PATIENCE_MS,
    );
  }).timeout(120_000);
});

function describeModule(module: string, file: string, paths: readonly string[]): object {
  const routes = toRoutes(
    paths.map((path) => `GET /${path}`),
    'use',
  );
  return {
    module,
    provider: { kind: 'local', config: { file, memory_mb: 32 } },
    manifest: { inline: buildManifest(module, routes) },
    limits: { timeout_ms: 2_000 },
    retry: { attempts: 0 },
    breaker: { failures: 100 },
  };
}

function countThreads(pid: number): number {
  try {
    return readdirSync(`/proc/${pid}/task`).length;
  } catch {
    return 0;
  }
}
