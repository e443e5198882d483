import { createHash } from 'node:crypto';
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { createWorkplace } from '../support/cli/run-in.js';
import { adapterSource, writePlugin } from '../support/isolation/write-plugin.js';
import { startHost } from '../support/start-host.js';
import { use } from '../support/use.js';

interface Entry {
  readonly name: string;
  readonly state: string;
  readonly integrity: string;
  readonly origin: string;
  readonly reason: string | null;
}

const READER = 'dev-service:ops:modgate.plugins.read';
const sha256 = (text: string) => `sha256:${createHash('sha256').update(text).digest('hex')}`;

const COLUMNS = [
  ...['NAME', 'VERSION', 'STATE', 'INTEGRITY'],
  ...['KINDS', 'AUTHENTICATORS', 'SURFACES', 'IMPORTERS'],
];

describe('modgate plugins', () => {
  let plugins: string;

  const place = createWorkplace();

  before(() => {
    plugins = join(place.folder, 'plugins');
    writePlugin(plugins, { name: 'acme', entry: adapterSource('acme') });
    writePlugin(plugins, { name: 'broken', manifest: '{', entry: null });
  });

  const list = async (...args: string[]): Promise<readonly Entry[]> => {
    const { code, stdout, stderr } = await place.run(['plugins', '--json', ...args]);
    expect([code, stderr]).to.deep.equal([0, '']);
    return (JSON.parse(stdout) as { readonly plugins: readonly Entry[] }).plugins;
  };

  it('lists the shipped plugins', async () => {
    const entries = await list();
    expect(entries.map(({ name }) => name)).to.include.members(['http', 'local']);
    for (const { state, origin } of entries) {
      expect([state, origin]).to.deep.equal(['known', 'shipped']);
    }
  });

  it('lists the plugins of a folder as a table, with their problems', async () => {
    const { code, stdout } = await place.run(['plugins', '--plugins', 'plugins']);
    expect(code).to.equal(0);
    const lines = stdout.split('\n');
    expect(lines[0]?.split(/ {2,}/)).to.deep.equal(COLUMNS);
    expect(stdout).to.match(/^acme +1\.0\.0 +known +unverified +acme +- +- +-$/m);
    expect(stdout).to.match(/^broken +- +refused +unchecked +- +- +- +-$/m);
    expect(stdout).to.match(/^ {2}plugin 'broken' has a bad plugin\.json:1:2: /m);
    expect(lines).to.include(`  ${join(plugins, 'broken')}`);
  });

  it('takes the folder of one plugin for that plugin', async () => {
    const entries = await list('--plugins', 'plugins/acme');
    const pluginsOfFolder = entries.filter(({ origin }) => origin === 'folder');
    expect(pluginsOfFolder.map(({ name, state }) => [name, state])).to.deep.equal([
      ['acme', 'known'],
    ]);
  });

  it('exits with 1 for a rejected plugin with --check', async () => {
    const args = ['plugins', '--check', '--plugins', 'plugins'];
    expect((await place.run(args)).code).to.equal(1);
    expect((await place.run(['plugins', '--check'])).code).to.equal(0);
  });

  it('lists configured packages', async () => {
    writePlugin(join(place.folder, 'etc/node_modules/@acme'), {
      name: 'modgate-mqtt',
      manifest: { name: 'acme-mqtt', kinds: ['mqtt'] },
      entry: adapterSource('mqtt'),
    });
    const config = place.write(
      'etc/modgate.yaml',
      'plugins: ["../plugins", "@acme/modgate-mqtt", "modgate-absent"]\n',
    );
    const entries = (await list('--config', config)).filter(({ origin }) => origin !== 'shipped');
    expect(entries.map(({ name, origin, state }) => `${name} ${origin} ${state}`)).to.deep.equal([
      'acme folder known',
      'broken folder refused',
      'acme-mqtt package known',
      'modgate-absent package refused',
    ]);
    for (const bad of ['[1]', '["../plugins", ""]', '["A/b"]', '{ a: b }']) {
      const file = place.write('etc/bad.yaml', `plugins: ${bad}\n`);
      const { code, stderr } = await place.run(['plugins', '--config', file]);
      expect([code, stderr]).to.deep.equal([
        2,
        `modgate: plugins in ${file}:1:1 must be a folder, an npm package such as @acme/x, or in a file a list of folders (./plugins) and packages\n`,
      ]);
    }
  });

  it('prints digests that verify a plugin', async () => {
    const { code, stdout } = await place.run(['plugins', 'digest', 'plugins/acme']);
    expect(code).to.equal(0);
    expect(Object.keys(JSON.parse(stdout).acme)).to.deep.equal(['index.mjs', 'plugin.json']);
    expect(JSON.parse(stdout).acme['index.mjs']).to.equal(sha256(adapterSource('acme')));
    const digests = place.write('digests.json', stdout);
    const args = ['--plugins', 'plugins', '--plugin-integrity', 'enforce'];
    const [unpinned] = (await list(...args)).filter(({ name }) => name === 'acme');
    expect(unpinned).to.include({ state: 'refused', reason: "plugin 'acme' has no digests" });
    const pinned = (await list(...args, '--plugin-digests', digests)).find(
      ({ name }) => name === 'acme',
    );
    expect(pinned).to.include({ state: 'known', integrity: 'verified' });
  });

  it("writes digests of the packed files into a plugin's own plugin.json, and removes them", async () => {
    const own = join(place.folder, 'own/acme');
    writePlugin(join(place.folder, 'own'), {
      name: 'acme',
      manifest: {},
      entry: adapterSource('acme'),
    });
    const packed = ['index.mjs', 'plugin.json'];
    place.write('own/acme/package.json', { name: 'acme', version: '1.0.0', files: packed });
    place.write('own/acme/source.ts', 'not packed');
    const before = readFileSync(join(own, 'plugin.json'), 'utf8');
    const digest = async (...args: string[]) => {
      const { code, stdout, stderr } = await place.run(['plugins', 'digest', '--own', ...args]);
      expect({ code, stdout, stderr }).to.deep.equal({ code: 0, stdout: '', stderr: '' });
      return readFileSync(join(own, 'plugin.json'), 'utf8');
    };
    const written = await digest('own/acme');
    const { digests } = JSON.parse(written) as { readonly digests: Record<string, string> };
    expect(Object.keys(digests)).to.deep.equal(['index.mjs', 'package.json']);
    expect(digests['index.mjs']).to.equal(sha256(adapterSource('acme')));
    expect(await digest('own/acme')).to.equal(written);
    rmSync(join(own, 'source.ts'));
    const entries = await list('--plugins', 'own', '--plugin-integrity', 'enforce');
    expect(entries.find(({ name }) => name === 'acme')).to.include({ integrity: 'verified' });
    const removed = await digest('own/acme', '--remove');
    expect(JSON.parse(removed)).to.deep.equal(JSON.parse(before));
  });

  it('rejects other uses with one line', async () => {
    const uses: readonly (readonly [readonly string[], RegExp])[] = [
      [['digest', 'gone'], /the folder of a plugin must be a folder that can be read/],
      [['digest', '--own', 'plugins/acme', 'plugins/broken'], /--own accepts one folder/],
      [['digest', '--remove', 'plugins/acme'], /--remove requires --own/],
      [['digest', '--own', 'plugins'], /npm cannot list the files of plugins/],
      [['--plugins', 'gone'], /--plugins must be a folder that can be read/],
      [['--plugin-integrity', 'maybe'], /--plugin-integrity must be one of off, warn, enforce/],
      [['--plugin-digests', 'gone.json'], /gone\.json .*does not exist/],
    ];
    for (const [args, message] of uses) {
      const { code, stdout, stderr } = await place.run(['plugins', ...args]);
      expect([code, stdout], args.join(' ')).to.deep.equal([2, '']);
      expect(stderr)
        .to.match(message)
        .and.to.match(/^modgate: [^\n]+\n$/);
    }
  });

  describe('of a running host', () => {
    const host = use(() => startHost({ args: ['--plugins', plugins] }));

    it('requires the scope modgate.plugins.read', async () => {
      const entries = await list('--url', host.url, '--token', READER);
      expect(entries.map(({ name, state }) => `${name} ${state}`)).to.include.members([
        'http known',
        'acme known',
        'broken refused',
      ]);
      const { stdout } = await place.run(['plugins', '--url', host.url, '--token', READER]);
      expect(stdout).to.match(/^acme +1\.0\.0 +known +unchecked +acme +- +- +-$/m);
    });

    it('exits with 1 without the scope', async () => {
      const token = 'dev-service:ops:modgate.modules.read';
      const args = ['plugins', '--url', host.url, '--token', token];
      const { code, stderr } = await place.run(args);
      expect(code).to.equal(1);
      expect(stderr).to.include('403').and.to.include('modgate.plugins.read');
      expect((await place.run(args.slice(0, 3))).stderr).to.include('401');
    });
  });
});
