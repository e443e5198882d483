import { mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { runHere } from '../../support/cli/run-here.js';
import { call, parseJson } from '../../support/http/call.js';
import { expectProblem, reasonOf } from '../../support/http/expect-problem.js';
import { buildManifest, describeModule } from '../../support/http/modules.js';
import { useHost } from '../../support/http/use-host.js';
import { waitUntil } from '../../support/http/wait-until.js';
import { adapterSource, describeKind, writePlugin } from '../../support/isolation/write-plugin.js';
import {
  CODE_PUBLISHER,
  PUBLISHER,
  readReleases,
  sendJson,
  useWorkspace,
} from '../../support/releases.js';
import { startHost } from '../../support/start-host.js';
import { createFolder } from '../../support/temporary-folder.js';
import { useKept } from '../../support/use.js';

const routes = (path: string) => [{ method: 'GET', path, capability: 'crm.read' }];
const FOLLOWING = { args: ['--modules', 'store:'] };

async function untilServed(host: { readonly port: number }, target: string): Promise<void> {
  const isServed = async () => (await call(host, { target, isUndescribed: true })).status === 200;
  await waitUntil(`${target} is served`, isServed);
}

describe('releases of a host', () => {
  const setup = useHost(() => ({}), FOLLOWING);
  const workspace = useWorkspace();
  const describeCrm = (path: string, overrides: object = {}) =>
    describeModule('crm', setup.provider.url, routes(path), overrides);
  const pull = (...args: string[]) =>
    workspace.run(setup.host, 'releases', 'pull', workspace.folder, '--force', ...args);
  /** The tests share a host: each starts from what is active. */
  const catchUp = async () => {
    if ((await readReleases(setup.host)).active !== null) await pull();
  };

  it('rejects a folder without descriptors, which would remove all modules', async () => {
    const { code, stderr } = await workspace.publish(setup.host);
    expect(stderr).to.include('has no descriptors');
    expect(code).to.equal(1);
  });

  it('prints the warnings of check, and publishes', async () => {
    await catchUp();
    workspace.write('crm.json', describeCrm('/first', { mount: [{ path: '/crm' }] }));
    const inner = describeModule('inner', setup.provider.url, routes('/first'), {
      mount: [{ path: '/crm/in' }],
    });
    workspace.write('inner.json', inner);
    const { code, stdout, stderr } = await workspace.publish(setup.host);
    expect(stderr).to.match(/inner\.json:.* warning: mount '\/crm\/in' .* \[nested-mount\]\n/);
    expect(stdout).to.match(/^[0-9a-f]{12} is active\n$/);
    expect(code).to.equal(0);
    workspace.remove('inner.json');
    await workspace.publish(setup.host);
  });

  it('publishes and pulls also where the file beside the folder cannot be written', async () => {
    await catchUp();
    const base = workspace.base();
    const file = join(workspace.folder, '../.modgate-release');
    rmSync(file, { force: true });
    mkdirSync(file);
    workspace.write('crm.json', describeCrm('/unwritten'));
    const args = base === null ? [] : ['--base', base];
    const { code, stdout, stderr } = await workspace.publish(setup.host, ...args);
    const { active } = await readReleases(setup.host);
    const name = active?.slice('sha256:'.length).slice(0, 12);
    const warning = `${file} cannot be written (EISDIR): publish the next change with --base ${name}`;
    expect({ code, stdout }).to.deep.equal({ code: 0, stdout: `${name} is active\n` });
    expect(stderr).to.equal(`warning: ${warning}\n`);
    expect(await pull()).to.include({ code: 0, stderr });
  });

  it('exits with 2 and one line where no temporary file can be created', async () => {
    await catchUp();
    workspace.write('crm.json', describeCrm('/pinned', { manifest: { from: 'provider' } }));
    const args = ['publish', workspace.folder, '--url', setup.host.url];
    const ended = await runHere(args, { MODGATE_TOKEN: CODE_PUBLISHER, TMPDIR: '/nonexistent' });
    expect(ended.stderr).to.match(
      /^modgate: temporary folder \/nonexistent cannot be used \(ENOENT\): set TMPDIR [^\n]+\n$/,
    );
    expect(ended.code).to.equal(2);
  });

  it('names the descriptor whose adapter does not open', async () => {
    await catchUp();
    const plugins = createFolder();
    const entry = adapterSource('closed', { open: "throw new Error('no license');" });
    writePlugin(plugins, { name: 'closed', entry });
    const manifest = { from: 'provider' };
    workspace.write('closed.json', describeKind('closed', 'closed', { manifest }));
    const { code, stderr } = await workspace.publish(setup.host, '--plugins', plugins);
    expect(stderr).to.equal('modgate: closed.json: no license\n');
    expect(code).to.equal(1);
  });

  it('publishes a disabled descriptor whose manifest only the provider has', async () => {
    await catchUp();
    const manifest = { from: 'provider' };
    workspace.write('off.json', describeCrm('/off', { module: 'off', enabled: false, manifest }));
    const { code, stderr } = await workspace.publish(setup.host);
    expect(code, stderr).to.equal(0);
    workspace.remove('off.json');
    await workspace.publish(setup.host);
  });

  it('says that a folder cannot be written', async () => {
    const folder = '/proc/modgate/modules.d';
    const { code, stderr } = await workspace.run(setup.host, 'releases', 'pull', folder);
    expect(stderr).to.match(
      /^modgate: \/proc\/modgate\/modules\.d cannot be written \(E[A-Z]+\): it may lack files\n$/,
    );
    expect(code).to.equal(1);
  });

  it('serves a published folder, lists it, and goes back', async () => {
    await catchUp();
    workspace.write('crm.json', describeCrm('/first'));
    const first = await workspace.publish(setup.host, '--note', 'first one');
    expect(first.stderr).to.equal('');
    expect(first.code).to.equal(0);
    expect(first.stdout).to.match(/^[0-9a-f]{12} is active\n$/);
    await untilServed(setup.host, '/modules/crm/http/first');
    const before = workspace.base();
    workspace.write('crm.json', describeCrm('/second'));
    expect((await workspace.publish(setup.host)).code).to.equal(0);
    await untilServed(setup.host, '/modules/crm/http/second');

    const status = await readReleases(setup.host);
    expect(status.active).to.equal(workspace.base());
    expect(status.releases[0]).to.deep.include({ base: before, note: '', files: 1, verdict: null });
    expect(status.releases[1]).to.deep.include({
      release: before,
      note: 'first one',
      author: { kind: 'service', id: 'publisher' },
    });
    const listed = await workspace.run(setup.host, 'releases');
    expect(listed.stdout).to.match(/RELEASE .*\n[0-9a-f]{12} +active .*\n.*first one\n/);

    const back = await workspace.run(setup.host, 'rollback');
    expect(back.stdout).to.equal(`${before?.slice(7, 19)} is active\n`);
    await untilServed(setup.host, '/modules/crm/http/first');
  });

  it('says so when nothing has changed', async () => {
    await catchUp();
    workspace.write('same.json', { ...describeCrm('/same'), module: 'same' });
    await workspace.publish(setup.host);
    const before = (await readReleases(setup.host)).releases.length;
    const again = await workspace.publish(setup.host);
    expect(again.stdout).to.include('is active already: nothing has changed');
    expect((await readReleases(setup.host)).releases).to.have.length(before);
  });

  it('prints what became of a release as JSON, and the rest on stderr', async () => {
    await catchUp();
    const read = ({ stdout }: { readonly stdout: string }) => JSON.parse(stdout);
    workspace.write('crm.json', describeCrm('/json'));
    const published = await workspace.publish(setup.host, '--json');
    const release = workspace.base();
    const result = { release, outcome: 'active', served: null, detail: null };
    expect(read(published)).to.deep.equal(result);
    expect(published.stderr).to.equal(`${release?.slice(7, 19)} is active\n`);
    const { files } = read(await pull('--json'));
    expect(files).to.equal(readdirSync(workspace.folder).length);
    const back = read(await workspace.run(setup.host, 'rollback', '--json'));
    expect(back.outcome).to.equal('active');
    expect(back.release).to.equal((await readReleases(setup.host)).active);
  });

  it('rejects a release that was made from another one, and names the active one', async () => {
    await catchUp();
    const stale = workspace.base();
    workspace.write('crm.json', describeCrm('/third'));
    expect((await workspace.publish(setup.host)).code).to.equal(0);
    const { active } = await readReleases(setup.host);
    const late = await workspace.publish(setup.host, '--base', stale ?? 'none', '--note', 'late');
    expect(late.code).to.equal(stale === null ? 2 : 1);
    if (stale !== null)
      expect(late.stderr)
        .to.include('409')
        .and.include(active ?? '');
    const without = await sendJson(setup.host, '/releases', { files: {}, base: null });
    expect(reasonOf(expectProblem(without, 409, 'conflict'), 'base')).to.equal(active);
    expect((await readReleases(setup.host)).active).to.equal(active);
  });

  it('stores the files that descriptors name, and writes them into a folder again', async () => {
    await catchUp();
    const manifest = buildManifest('crm', routes('/files'));
    workspace.write('crm.json', { ...describeCrm('/files'), manifest: './crm/manifest.json' });
    workspace.write('crm/manifest.json', manifest);
    workspace.write('notes.txt', 'no descriptor names this file');
    expect((await workspace.publish(setup.host)).stderr).to.equal('');
    await untilServed(setup.host, '/modules/crm/http/files');
    const refused = await workspace.run(setup.host, 'releases', 'pull', workspace.folder);
    expect(refused.stderr).to.include('is not empty');
    expect((await pull()).code).to.equal(0);
    expect(readdirSync(workspace.folder).filter((name) => name.startsWith('crm'))).to.deep.equal([
      'crm',
      'crm.json',
    ]);
    expect(readdirSync(workspace.folder)).to.not.include('notes.txt');
    const text = readFileSync(join(workspace.folder, 'crm/manifest.json'), 'utf8');
    expect(JSON.parse(text)).to.deep.equal(manifest);
  });

  it('lists a release that is published again as the newest, with its new note', async () => {
    await catchUp();
    workspace.write('crm.json', describeCrm('/again-before'));
    await workspace.publish(setup.host);
    const before = workspace.base();
    for (const note of ['one', 'two']) {
      workspace.write('crm.json', describeCrm('/again'));
      expect((await workspace.publish(setup.host, '--note', note)).code).to.equal(0);
      const { active, releases } = await readReleases(setup.host);
      expect(releases[0]).to.include({ release: active, base: before, note });
      await workspace.run(setup.host, 'rollback');
      await pull();
    }
  });

  it('pins the manifest of a provider when it is published', async () => {
    await catchUp();
    const schema = { $schema: 'http://json-schema.org/draft-07/schema#', items: [true] };
    const manifest = buildManifest('pinned', [
      ...routes('/pinned'),
      { method: 'POST', path: '/pinned', operation: { input_schema: schema } },
    ]);
    setup.provider.answer({ body: JSON.stringify(manifest) });
    workspace.write(
      'pinned.yaml',
      `# kept\nmodule: pinned\nprovider: { kind: http, config: { endpoints: ['${setup.provider.url}'] } }\n`,
    );
    const other = describeModule('other', setup.provider.url, routes('/a'), { identity: true });
    workspace.write('other.json', other);
    const published = await workspace.publish(setup.host);
    // The check of the folder does not know the capabilities of the manifest.
    expect(published.stderr).to.match(/other\.json:.* warning: identity: .* \[foreign-scope\]\n/);
    await untilServed(setup.host, '/modules/pinned/http/pinned');
    await pull();
    const text = readFileSync(join(workspace.folder, 'pinned.yaml'), 'utf8');
    expect(text)
      .to.match(/^# kept\nmodule: pinned\n/)
      .and.include('manifest: ./pinned.manifest.json');
    // As it is written, so that it keeps its digest.
    const pinned = readFileSync(join(workspace.folder, 'pinned.manifest.json'), 'utf8');
    expect(JSON.parse(pinned)).to.deep.equal(manifest);
  });

  it('warns of a module that the host rejects, since it lacks a secret', async () => {
    const host = await startHost({
      args: ['--modules', 'store:', '--release-references', 'env:RELEASE_TOKEN'],
    });
    try {
      const config = { endpoints: ['http://127.0.0.1:1'], auth: { bearer: 'env:RELEASE_TOKEN' } };
      const module = describeModule('crm', '', routes('/a'), {
        provider: { kind: 'http', config },
      });
      workspace.write('crm.json', module);
      const { code, stdout, stderr } = await workspace.publish(host);
      expect(stdout).to.match(/^[0-9a-f]{12} is active\n$/);
      const warning = /^warning: \S+ does not serve crm of sha256:\S+: .*RELEASE_TOKEN/;
      expect(stderr).to.match(warning);
      expect(code).to.equal(0);
      const bad = (await readReleases(host)).active ?? '';
      workspace.write('crm.json', describeModule('crm', 'http://127.0.0.1:1', routes('/a')));
      expect((await workspace.publish(host)).stderr).to.equal('');
      const back = await workspace.run(host, 'rollback', bad);
      expect(back.stderr).to.match(warning);
      expect(back.code).to.equal(0);
    } finally {
      await host.stop();
    }
  });

  it('publishes nothing that a check rejects', async () => {
    await catchUp();
    await waitUntil('the host serves the active release', async () => {
      const { active, hosts } = await readReleases(setup.host);
      return hosts.every(({ release }) => release === active);
    });
    const before = await readReleases(setup.host);
    workspace.write('broken.json', { module: 'broken', provider: { kind: 'http', confg: {} } });
    const ended = await workspace.publish(setup.host);
    expect(ended.code).to.equal(1);
    expect(ended.stdout).to.include('confg');
    expect(await readReleases(setup.host)).to.deep.equal(before);
  });

  it('writes publish and rollback into the audit', async () => {
    await catchUp();
    workspace.write('audited.json', { ...describeCrm('/audited'), module: 'audited' });
    await workspace.publish(setup.host);
    const published = workspace.base();
    await workspace.run(setup.host, 'rollback');
    const { rows } = parseJson(await call(setup.host, { target: '/audit?limit=1000' })) as {
      rows: { operation: string; target: string; actor: object; permission: string }[];
    };
    const [publish, rollback] = rows.slice(-2);
    expect(publish).to.deep.include({
      operation: 'release_publish',
      target: published,
      permission: 'modgate.releases',
      actor: { kind: 'service', id: 'publisher' },
    });
    expect(rollback?.operation).to.equal('release_rollback');
  });

  it('is open to the scope modgate.releases alone', async () => {
    const as = 'dev-service:reader:modgate.modules.read';
    expectProblem(await call(setup.host, { target: '/releases', as }), 403);
    expectProblem(await sendJson(setup.host, '/releases', { files: {}, base: null }, as), 403);
    expectProblem(await sendJson(setup.host, '/rollback', { release: null }, as), 403);
    const unknown = `/releases/sha256:${'0'.repeat(64)}`;
    expectProblem(await call(setup.host, { target: unknown, as: PUBLISHER }), 404);
  });
});

describe('a host that follows releases', () => {
  const workspace = useWorkspace();
  let state = '';
  const keep = useKept();
  const start = async () => {
    return keep(await startHost({ args: ['--modules', 'store:', '--state', state] }));
  };

  beforeEach(() => {
    state = createFolder();
  });

  it('starts without any release, and from its copy while the store is unavailable', async () => {
    const first = await start();
    expect(parseJson(await call(first, { target: '/modules' }))['modules']).to.deep.equal([]);
    workspace.write('crm.json', describeModule('crm', 'http://127.0.0.1:1', routes('/copied')));
    await workspace.publish(first);
    const isThere = async () => {
      const text = (await call(first, { target: '/modules' })).body.toString('utf8');
      return text.includes('"crm"');
    };
    await waitUntil('the module', isThere);
    await first.stop();
    rmSync(join(state, 'modgate.db'));
    rmSync(join(state, 'modgate.db-wal'), { force: true });
    const { mkdirSync } = await import('node:fs');
    mkdirSync(join(state, 'modgate.db'));
    const again = await start();
    const { modules } = parseJson(await call(again, { target: '/modules' })) as {
      modules: { name: string; state: string }[];
    };
    expect(modules.map(({ name, state }) => [name, state])).to.deep.equal([['crm', 'live']]);
    expectProblem(await call(again, { target: '/releases' }), 503);
  });

  it('keeps what it has when a release needs a newer modgate', async () => {
    const host = await start();
    workspace.write('crm.json', describeModule('crm', 'http://127.0.0.1:1', routes('/old')));
    const ended = await workspace.publish(host, '--least-version', '99.0.0');
    expect(ended.code).to.equal(1);
    expect(ended.stderr).to.match(/least_version: this host is modgate \d/);
  });
});
