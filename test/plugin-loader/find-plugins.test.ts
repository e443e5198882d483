import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { findPlugins } from '../../core/plugin-loader/find-plugins.js';
import { openPlugins } from '../../core/plugin-loader/open-plugins.js';
import { readPlugins } from '../../core/plugin-loader/plugin-registry.js';
import { createRecordedLog } from '../support/auth/recorded-log.js';
import { createFolder } from '../support/temporary-folder.js';

const MANIFEST = { version: '1.0.0', contract: 1, entry: './index.mjs' };
const pluginManifest = (name: string, overrides: object = {}) =>
  JSON.stringify({ ...MANIFEST, name, kinds: [name], ...overrides });

/** An entry with one adapter of this kind, without an import. */
const entryOf = (kind: string) => `export default { adapters: [{
  kind: '${kind}', contract: 1, supports: {}, open() {}, config: { validate() {} },
  [Symbol.for('modgate.adapter')]: true,
}] };`;

describe('plugin scan', () => {
  const aPackage = (name: string, ...directories: string[]) =>
    ({ kind: 'package', name, directories }) as const;

  it('finds a package above the configuration file, or else above the working directory', async () => {
    const [first, second] = [1, 2].map(() =>
      createFolder({
        'node_modules/@acme/modgate-mqtt/plugin.json': pluginManifest('acme-mqtt'),
        'node_modules/@acme/modgate-mqtt/index.mjs': entryOf('acme-mqtt'),
      }),
    ) as [string, string];
    const name = '@acme/modgate-mqtt';
    const registry = await readPlugins([aPackage(name, join(first, 'etc/deep'), second)]);
    const [status] = registry.list();
    expect(status).to.include({ name: 'acme-mqtt', origin: 'package', state: 'known' });
    expect(status?.folder).to.equal(join(first, 'node_modules', name));
    expect((await registry.adapter('acme-mqtt')).kind).to.equal('acme-mqtt');
    rmSync(join(first, 'node_modules'), { recursive: true });
    const [later] = (await readPlugins([aPackage(name, first, second)])).list();
    expect(later?.folder).to.equal(join(second, 'node_modules', name));
  });

  it('rejects a package that is not installed, and names it for an unknown kind', async () => {
    const folder = createFolder();
    const registry = await readPlugins([aPackage('modgate-mqtt', folder)]);
    expect(registry.list()).to.have.length(1);
    expect(registry.list()[0]).to.include({
      state: 'refused',
      stage: 'find',
      reason: `plugin 'modgate-mqtt' is not installed under ${folder}`,
      hint: 'npm install modgate-mqtt',
    });
    const error = await registry.adapter('mqtt').catch((reason: Error) => reason);
    expect(String(error)).to.include("plugin 'modgate-mqtt' is not installed");
  });

  it('rejects plugins beyond the first 1,000 of a folder, in one entry', async () => {
    const paths = Array.from({ length: 1002 }, (_, index) => [`p${index + 1000}/plugin.json`, '']);
    const path = createFolder(Object.fromEntries(paths));
    const plugins = await findPlugins([{ kind: 'folder', path }]);
    expect(plugins).to.have.length(1001);
    expect(plugins.at(-2)).to.deep.equal({ folder: join(path, 'p1999'), origin: 'folder' });
    const last = plugins.at(-1);
    expect(last && 'error' in last ? last.error.message : '').to.include(
      "plugin 'p2000' and those after it are beyond the limit of 1000 plugins in a folder",
    );
  });

  it('logs what it rejects at start', async () => {
    const { log, lines } = createRecordedLog();
    const plugins = [aPackage('modgate-mqtt', createFolder())];
    await openPlugins({ plugins, pluginIntegrity: 'off', pluginDigests: null }, '--plugins', log);
    expect(lines).to.have.length(1);
    expect(lines[0]).to.deep.include({ level: 'warn', message: 'plugin rejected' });
    expect(lines[0]?.fields).to.include({
      plugin: 'modgate-mqtt',
      stage: 'find',
      hint: 'npm install modgate-mqtt',
    });
  });

  it('rejects a package that is not a plugin', async () => {
    const folder = createFolder({ 'node_modules/left-pad/package.json': '{}' });
    const [status] = (await readPlugins([aPackage('left-pad', folder)])).list();
    expect(status?.reason).to.equal("plugin 'left-pad' has a plugin.json that does not exist");
  });

  it('finds a linked package in its real folder', async () => {
    const real = createFolder({
      'plugin.json': pluginManifest('linked'),
      'index.mjs': entryOf('linked'),
    });
    const folder = createFolder();
    mkdirSync(join(folder, 'node_modules'));
    symlinkSync(real, join(folder, 'node_modules/modgate-linked'));
    const registry = await readPlugins([aPackage('modgate-linked', folder)]);
    expect((await registry.adapter('linked')).kind).to.equal('linked');
  });

  it('counts a folder that is configured twice once', async () => {
    const folder = createFolder({
      'a/plugin.json': pluginManifest('a'),
      'a/index.mjs': entryOf('a'),
    });
    const registry = await readPlugins([folder, folder]);
    expect(registry.list().map(({ state }) => state)).to.deep.equal(['known']);
  });

  describe('repeated', () => {
    it('finds new and removed plugins, and returns whether anything changed', async () => {
      const folder = createFolder({
        'a/plugin.json': pluginManifest('a'),
        'a/index.mjs': entryOf('a'),
      });
      const registry = await readPlugins([folder]);
      expect(await registry.refresh()).to.equal(false);
      mkdirSync(join(folder, 'b'));
      writeFileSync(join(folder, 'b/index.mjs'), entryOf('b'));
      writeFileSync(join(folder, 'b/plugin.json'), pluginManifest('b'));
      expect(await registry.refresh()).to.equal(true);
      expect(registry.kinds()).to.deep.equal(['a', 'b']);
      rmSync(join(folder, 'b'), { recursive: true });
      expect(await registry.refresh()).to.equal(true);
      expect(registry.kinds()).to.deep.equal(['a']);
    });

    it('reads a rejected plugin again after it changed', async () => {
      const folder = createFolder({
        'a/plugin.json': pluginManifest('a'),
        'a/index.mjs': `import 'modgate-no-such-package';`,
      });
      const registry = await readPlugins([folder]);
      const error = await registry.adapter('a').catch((reason: Error) => reason);
      expect(String(error)).to.include('cannot be imported');
      expect(await registry.refresh()).to.equal(false);
      writeFileSync(join(folder, 'a/index.mjs'), `${entryOf('a')} // changed`);
      expect(await registry.refresh()).to.equal(true);
      expect(registry.list()[0]?.state).to.equal('known');
      expect((await registry.adapter('a')).kind).to.equal('a');
    });

    it('keeps an imported plugin when its folder is changed or removed', async () => {
      const folder = createFolder({
        'a/plugin.json': pluginManifest('a'),
        'a/index.mjs': entryOf('a'),
      });
      const registry = await readPlugins([folder]);
      const adapter = await registry.adapter('a');
      writeFileSync(join(folder, 'a/plugin.json'), '{');
      await registry.refresh();
      expect(registry.list().map(({ state }) => state)).to.deep.equal(['loaded']);
      rmSync(join(folder, 'a'), { recursive: true });
      await registry.refresh();
      expect(await registry.adapter('a')).to.equal(adapter);
      expect(registry.list().map(({ state }) => state)).to.deep.equal(['loaded']);
    });

    it('keeps the kinds of imported plugins', async () => {
      const folder = createFolder({
        'b/plugin.json': pluginManifest('b'),
        'b/index.mjs': entryOf('b'),
      });
      const registry = await readPlugins([folder]);
      const adapter = await registry.adapter('b');
      mkdirSync(join(folder, 'a'));
      writeFileSync(join(folder, 'a/index.mjs'), entryOf('b'));
      writeFileSync(join(folder, 'a/plugin.json'), pluginManifest('a', { kinds: ['b'] }));
      await registry.refresh();
      expect(registry.list().map(({ name, state }) => `${name} ${state}`)).to.deep.equal([
        'a refused',
        'b loaded',
      ]);
      expect(await registry.adapter('b')).to.equal(adapter);
    });
  });
});
