import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'chai';
import { type EchoProvider, startEchoProvider } from '../../support/echo-provider.js';
import { call, parseJson } from '../../support/http/call.js';
import { describeWideModule } from '../../support/http/modules.js';
import { waitUntil } from '../../support/http/wait-until.js';
import { BAD_PLUGINS, type BadPlugin } from '../../support/isolation/bad-plugins.js';
import { adapterSource, describeKind, writePlugin } from '../../support/isolation/write-plugin.js';
import { type HostProcess, startHostProcess } from '../../support/start-host.js';
import { createFolder } from '../../support/temporary-folder.js';

const CASES = Object.entries(BAD_PLUGINS);
const GOOD_TARGETS = ['/modules/good/http/x', '/modules/plain/http/x'];
const CALLERS = 4;
/** The pause between two calls of a caller, so that the threads of the plugins get CPU time. */
const PAUSE_MS = 10;
const DEADLINE_MS = 60_000;

interface PluginEntry {
  readonly name: string;
  readonly folder: string;
  readonly state: string;
  readonly stage: string | null;
  readonly reason: string | null;
}

interface ModuleEntry {
  readonly name: string | null;
  readonly file: string;
  readonly state: string;
  readonly reason: string | null;
}

/** Calls the good modules sequentially until it is stopped. */
function startCallers(url: string) {
  const failures: string[] = [];
  let calls = 0;
  let isStopped = false;
  const loop = async () => {
    while (!isStopped) {
      const target = GOOD_TARGETS[calls % GOOD_TARGETS.length] ?? '';
      calls += 1;
      const headers = { authorization: 'Bearer dev-system:root' };
      const result = await fetch(`${url}${target}`, { headers }).then(
        async (response) => `${response.status} ${response.ok ? '' : await response.text()}`,
        (error: Error) => `${error.message}: ${error.cause}`,
      );
      if (!result.startsWith('200 ')) failures.push(`${target}: ${result}`);
      await pause(PAUSE_MS);
    }
  };
  const running = Promise.all(Array.from({ length: CALLERS }, loop));
  return {
    failures,
    get calls() {
      return calls;
    },
    stop: async () => {
      isStopped = true;
      await running;
    },
  };
}

describe('bad plugins next to good ones, under load', function () {
  this.timeout(DEADLINE_MS + 10_000);
  let directory: string;
  let plugins: string;
  let host: HostProcess;
  let provider: EchoProvider;
  let callers: ReturnType<typeof startCallers>;
  const nameOf = (index: number) => `bad-${index}`;

  before(async () => {
    directory = createFolder();
    plugins = join(directory, 'plugins');
    mkdirSync(plugins);
    writePlugin(plugins, { name: 'good', entry: adapterSource('good') });
    provider = await startEchoProvider();
    // High limits, because the threads of the plugins keep the machine busy.
    const limits = { timeout_ms: 60_000 };
    host = await startHostProcess({
      files: {
        'good.json': describeKind('good', 'good', { limits }),
        'plain.json': describeWideModule('plain', provider.url, { limits }),
      },
      args: ['--plugins', plugins, '--shed-delay-ms', '60000', '--log-success-sample', '0'],
    });
    for (const target of GOOD_TARGETS) expect((await call(host, { target })).status).to.equal(200);
    callers = startCallers(host.url);
    for (const [index, [, bad]] of CASES.entries()) drop(nameOf(index), bad);
  });

  after(async () => {
    await callers.stop();
    const exit = await host.stop();
    await provider.close();
    expect(exit).to.deep.equal({ code: 0, signal: null });
  });

  const drop = (name: string, bad: BadPlugin) => {
    const manifest =
      typeof bad.manifest === 'string'
        ? bad.manifest
        : JSON.parse(JSON.stringify(bad.manifest ?? {}).replaceAll('KIND', name));
    const entry = bad.entry?.replaceAll('KIND', name) ?? null;
    if (bad.isLinkedOutside) {
      writeFileSync(join(directory, 'outside.mjs'), adapterSource(name));
      mkdirSync(join(plugins, name));
      symlinkSync(join(directory, 'outside.mjs'), join(plugins, name, 'index.mjs'));
    }
    writePlugin(plugins, { name, manifest, entry });
    const limits = { timeout_ms: 1000 };
    host.drop(`${name}.json`, describeKind(name, name, { limits, ...bad.descriptor }));
  };

  const read = async <T>(target: string) => parseJson(await call(host, { target })) as unknown as T;
  const moduleOf = async (name: string) => {
    const { modules } = await read<{ readonly modules: readonly ModuleEntry[] }>('/modules');
    return modules.find(({ file }) => file === `${name}.json`);
  };
  const pluginOf = async (name: string) => {
    const list = await read<{ readonly plugins: readonly PluginEntry[] }>('/plugins');
    return list.plugins.find(({ folder }) => folder.endsWith(`/${name}`));
  };

  const waitForModule = async (name: string, expected: BadPlugin['module']) => {
    let last: ModuleEntry | undefined;
    const state = 'state' in expected ? expected.state : 'live';
    const isThere = async () => {
      last = await moduleOf(name);
      if (last?.state !== state) return false;
      return !('reason' in expected) || expected.reason.test(last.reason ?? '');
    };
    await waitUntil(`module ${name} is ${state}`, isThere, DEADLINE_MS).catch((error: Error) =>
      expect.fail(`${error.message}; it is ${JSON.stringify(last)}`),
    );
  };

  for (const [index, [title, bad]] of CASES.entries()) {
    it(`reports ${title}`, async () => {
      const name = nameOf(index);
      await waitForModule(name, bad.module);
      if ('failure' in bad.module) {
        const answer = await call(host, {
          target: `/modules/${name}/http/x`,
          deadlineMs: DEADLINE_MS,
        });
        expect(answer.status).to.equal(502);
        const { errors } = parseJson(answer) as unknown as {
          readonly errors: readonly { readonly field: string; readonly reason: string }[];
        };
        const failure = errors.find(({ field }) => field === 'failure')?.reason;
        expect(failure).to.equal(bad.module.failure);
      }
      const state = bad.refused === undefined ? 'loaded' : 'refused';
      let plugin: PluginEntry | undefined;
      const isThere = async () => {
        plugin = await pluginOf(name);
        return plugin?.state === state;
      };
      await waitUntil(`plugin ${name} is ${state}`, isThere, DEADLINE_MS);
      if (bad.refused !== undefined) expect(plugin?.reason).to.match(bad.refused);
    });
  }

  it('covers at least 20 kinds of bad plugins', () => {
    expect(CASES.length).to.be.at.least(20);
  });

  it('fails no request of the good modules meanwhile', async () => {
    await callers.stop();
    expect(callers.failures.slice(0, 3)).to.deep.equal([]);
    expect(callers.calls).to.be.at.least(100);
    for (const target of GOOD_TARGETS) expect((await call(host, { target })).status).to.equal(200);
    for (const name of ['good', 'plain']) expect((await moduleOf(name))?.state).to.equal('live');
  });
});
