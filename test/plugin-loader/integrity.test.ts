import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { digestFiles } from '../../core/plugin-loader/digests.js';
import { parsePluginDigests } from '../../core/plugin-loader/integrity.js';
import { PluginError } from '../../core/plugin-loader/plugin-error.js';
import { type PluginOptions, readPlugins } from '../../core/plugin-loader/plugin-registry.js';
import { createRecordedLog } from '../support/auth/recorded-log.js';
import { createFolder } from '../support/temporary-folder.js';

const ENTRY = `import './lib/b.mjs';
export default { adapters: [{
  kind: 'a', contract: 1, supports: {}, open() {}, config: { validate() {} },
  [Symbol.for('modgate.adapter')]: true,
}] };`;
const LIB = 'export const b = 1;';
const sha256 = (text: string) => `sha256:${createHash('sha256').update(text).digest('hex')}`;
const OWN = { 'index.mjs': sha256(ENTRY), 'lib/b.mjs': sha256(LIB) };

function manifestOf(digests?: object): string {
  const base = { name: 'a', version: '1.0.0', contract: 1, kinds: ['a'], entry: './index.mjs' };
  return JSON.stringify({ ...base, digests });
}

describe('plugin integrity', () => {
  const create = (manifest: string): string =>
    createFolder({ 'a/plugin.json': manifest, 'a/index.mjs': ENTRY, 'a/lib/b.mjs': LIB });

  /** Loads the plugin; `error` is `null` on success. */
  const load = async (folder: string, options: PluginOptions) => {
    const registry = await readPlugins([folder], options);
    const error = await registry.adapter('a').then(
      () => null,
      (reason: PluginError) => reason,
    );
    return { registry, error, status: registry.list()[0] };
  };

  it('digests every file, in order of the paths', async () => {
    const folder = create(manifestOf(OWN));
    const digests = await digestFiles(join(folder, 'a'));
    expect(Object.entries(digests)).to.deep.equal([
      ['index.mjs', OWN['index.mjs']],
      ['lib/b.mjs', OWN['lib/b.mjs']],
      ['plugin.json', sha256(manifestOf(OWN))],
    ]);
  });

  it('loads a plugin whose files have the digests of its plugin.json', async () => {
    const { error, status } = await load(create(manifestOf(OWN)), { integrity: 'enforce' });
    expect([error, status?.integrity, status?.state]).to.deep.equal([null, 'verified', 'loaded']);
  });

  it('compares nothing with the policy off', async () => {
    const bad = { ...OWN, 'index.mjs': sha256('x') };
    const { error, status } = await load(create(manifestOf(bad)), { integrity: 'off' });
    expect([error, status?.integrity]).to.deep.equal([null, 'off']);
  });

  const PROBLEMS: Readonly<
    Record<string, [digests: object | undefined, reason: string, state: string]>
  > = {
    'no digests': [undefined, 'has no digests', 'unverified'],
    'a file that differs': [
      { ...OWN, 'lib/b.mjs': sha256('x') },
      "does not match its digests: 'lib/b.mjs' differs",
      'failed',
    ],
    'a file that is missing': [
      { ...OWN, 'c.mjs': sha256('x') },
      "does not match its digests: 'c.mjs' is missing",
      'failed',
    ],
    'a file without a digest': [
      { 'index.mjs': OWN['index.mjs'] },
      "does not match its digests: 'lib/b.mjs' has none",
      'failed',
    ],
  };
  for (const [title, [digests, reason, state]] of Object.entries(PROBLEMS)) {
    it(`rejects ${title} before any code runs, with the policy enforce`, async () => {
      const { error, status } = await load(create(manifestOf(digests)), { integrity: 'enforce' });
      expect(error).to.be.instanceOf(PluginError);
      expect([error?.stage, error?.reason]).to.deep.equal(['integrity', `plugin 'a' ${reason}`]);
      expect(error?.hint).to.include('modgate plugins digest');
      expect([status?.state, status?.integrity]).to.deep.equal(['refused', state]);
    });

    it(`warns about ${title} and uses the plugin, with the policy warn`, async () => {
      const { log, lines } = createRecordedLog();
      const folder = create(manifestOf(digests));
      const { error, status } = await load(folder, { integrity: 'warn', log });
      expect([error, status?.state, status?.integrity]).to.deep.equal([null, 'loaded', state]);
      expect(status?.reason).to.equal(`plugin 'a' ${reason}`);
      expect(lines.map(({ level, message }) => `${level} ${message}`)).to.deep.equal([
        'warn plugin not verified',
      ]);
      expect(lines[0]?.fields).to.include({ plugin: 'a', reason: `plugin 'a' ${reason}` });
    });
  }

  it('prefers the digests of operators, which include plugin.json', async () => {
    const folder = create(manifestOf(OWN));
    const pinned = { ...OWN, 'plugin.json': sha256(manifestOf(OWN)) };
    const enforce = (digests: object) =>
      load(folder, { integrity: 'enforce', digests: { a: digests } as never });
    expect((await enforce(pinned)).error).to.equal(null);
    expect((await enforce(OWN)).error?.reason).to.include("'plugin.json' has none");
    const other = { ...pinned, 'plugin.json': sha256('x') };
    expect((await enforce(other)).error?.reason).to.include("'plugin.json' differs");
  });

  it('detects a file that changed after the host started', async () => {
    const folder = create(manifestOf(OWN));
    const registry = await readPlugins([folder], { integrity: 'enforce' });
    writeFileSync(join(folder, 'a/lib/b.mjs'), 'globalThis.owned = true;');
    const error = await registry.adapter('a').catch((reason: PluginError) => reason);
    expect(String(error)).to.include("'lib/b.mjs' differs");
    expect(globalThis).to.not.have.property('owned');
  });

  it('rejects a link that leads outside of the folder, and follows others', async () => {
    const folder = create(manifestOf({ ...OWN, 'lib/c.mjs': OWN['lib/b.mjs'] }));
    symlinkSync(join(folder, 'a/lib/b.mjs'), join(folder, 'a/lib/c.mjs'));
    expect((await load(folder, { integrity: 'enforce' })).error).to.equal(null);
    rmSync(join(folder, 'a/lib/c.mjs'));
    const outside = createFolder({ 'c.mjs': LIB });
    symlinkSync(join(outside, 'c.mjs'), join(folder, 'a/lib/c.mjs'));
    const { error } = await load(folder, { integrity: 'enforce' });
    expect(error?.reason).to.include("'lib/c.mjs' leads outside of its folder");
  });

  it('rejects a pipe among the files', async () => {
    const folder = create(manifestOf({ ...OWN, pipe: OWN['lib/b.mjs'] }));
    execFileSync('mkfifo', [join(folder, 'a/pipe')]);
    const { error } = await load(folder, { integrity: 'enforce' });
    expect(error?.reason).to.include("'pipe' is not a regular file");
  });

  it('enters a folder once when a link leads to a parent', async () => {
    const folder = create(manifestOf(OWN));
    mkdirSync(join(folder, 'a/deep'));
    symlinkSync(join(folder, 'a'), join(folder, 'a/deep/up'));
    expect((await load(folder, { integrity: 'enforce' })).error).to.equal(null);
  });

  it('verifies all plugins without running their code', async () => {
    const folder = create(manifestOf({ ...OWN, 'index.mjs': sha256('x') }));
    const registry = await readPlugins([folder], { integrity: 'enforce' });
    expect(registry.list()[0]?.integrity).to.equal('unchecked');
    await registry.verify();
    expect(registry.list()[0]).to.include({ state: 'refused', integrity: 'failed' });
  });

  it('rejects invalid digests, with their position', async () => {
    const registry = await readPlugins([create(manifestOf({ '../x.mjs': sha256('') }))]);
    expect(registry.list()[0]?.reason).to.match(/^plugin 'a' has a bad plugin\.json:1:\d+: /);
    const parse = () => parsePluginDigests('digests.yaml', 'a:\n  index.mjs: sha256:abc\n');
    expect(parse).to.throw(
      /^digests\.yaml:2:\d+ .*must be a digest: sha256: and 64 lower-case hex digits/,
    );
  });
});
