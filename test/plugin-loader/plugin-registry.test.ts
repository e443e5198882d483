import { execFileSync } from 'node:child_process';
import { symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import type { Plugin } from '../../core/contract/index.js';
import { readPlugins } from '../../core/plugin-loader/plugin-registry.js';
import { createFolder } from '../support/temporary-folder.js';
import { withoutThreads } from '../support/without-threads.js';

import { entryOf, expectRejection, readEcho, rejectionOf, VALID } from './echo-plugin.js';

const SHIPPED = fileURLToPath(new URL('../../plugins', import.meta.url));
describe('plugin registry', () => {
  const importedCount = () => (globalThis as { imported?: number }).imported ?? 0;

  it('lists the shipped kinds without running their code, and loads them', async () => {
    const registry = await readPlugins([SHIPPED]);
    expect(registry.kinds()).to.include.members(['http', 'unix', 'local']);
    expect(registry.list().map(({ state }) => state)).to.not.include('refused');
    for (const kind of ['http', 'unix', 'local']) {
      expect((await registry.adapter(kind)).kind).to.equal(kind);
    }
    const loaded = registry.list().filter(({ state }) => state === 'loaded');
    expect(loaded.map(({ name }) => name)).to.include.members(['http', 'local']);
  });

  it('imports a plugin once, at the first use of one of its kinds', async () => {
    const before = importedCount();
    const registry = await readEcho({ kinds: ['echo', 'other'] }, entryOf('echo', 'other'));
    expect(registry.kinds()).to.deep.equal(['echo', 'other']);
    expect(registry.list().map(({ state }) => state)).to.deep.equal(['known']);
    expect(importedCount()).to.equal(before);
    const [first, second, other] = await Promise.all(
      ['echo', 'echo', 'other'].map((kind) => registry.adapter(kind)),
    );
    expect(first).to.equal(second);
    expect(other?.kind).to.equal('other');
    expect(importedCount()).to.equal(before + 1);
    expect(registry.list().map(({ state }) => state)).to.deep.equal(['loaded']);
  });

  it('imports a plugin at its next use when the system had no thread for it', async () => {
    const registry = await readEcho({}, entryOf('echo'));
    const load = () => registry.adapter('echo');
    await withoutThreads(async () => {
      const error = await load().catch((reason: Error) => reason);
      expect(error).to.be.an('error').with.property('message').that.includes('EAGAIN');
    });
    expect((await load()).kind).to.equal('echo');
  });

  it('lists plugins by folder and name, and ignores other files', async () => {
    const plugin = (name: string) => JSON.stringify({ ...VALID, name, kinds: [name] });
    const first = createFolder({
      'b/plugin.json': plugin('b'),
      'b/index.mjs': '',
      'a/plugin.json': plugin('a'),
      'a/index.mjs': '',
      'README.md': 'not a plugin',
      'no-plugin/index.mjs': '',
    });
    const second = createFolder({ 'a0/plugin.json': plugin('c'), 'a0/index.mjs': '' });
    symlinkSync(join(second, 'a0'), join(second, 'linked'));
    const registry = await readPlugins([first, second]);
    expect(registry.list().map(({ name, state }) => `${name} ${state}`)).to.deep.equal([
      'a known',
      'b known',
      'c known',
      'c refused',
    ]);
  });

  it('suggests kinds for an unknown kind', async () => {
    const registry = await readEcho({});
    const messages: string[] = [];
    for (const kind of ['ecco', 'carrier-pigeon']) {
      await registry.adapter(kind).catch((error: Error) => messages.push(error.message));
    }
    expect(messages).to.deep.equal([
      "no plugin has that kind of provider (did you mean 'echo'?)",
      'no plugin has that kind of provider (known here: echo)',
    ]);
  });

  it('rejects a missing folder', async () => {
    const error = await readPlugins([join(createFolder(), 'gone')]).then(
      () => expect.fail('expected it to throw'),
      (reason: NodeJS.ErrnoException) => reason,
    );
    expect(error.code).to.equal('ENOENT');
  });

  const BAD_FILES: Readonly<Record<string, [changes: object, message: string]>> = {
    'an unknown key': [{ entri: 1 }, "unknown key 'entri' (did you mean 'entry'?)"],
    'no version': [{ version: undefined }, "missing key 'version'"],
    'an invalid version': [{ version: 'v1' }, "'version' must be a version such as 1.0.0"],
    'a contract that is text': [
      { contract: '1' },
      "'contract' must be a whole number (remove the quotes)",
    ],
    'no kinds': [{ kinds: [] }, "'kinds' must be a list with a length between 1 and 64"],
    'a kind twice': [{ kinds: ['echo', 'echo'] }, "'kinds' must be a list of kinds that differ"],
    'a bad kind': [{ kinds: ['echo', 'Echo'] }, "'kinds[1]' must be a kind of a-z, 0-9 and -"],
    'an absolute entry': [
      { entry: '/index.mjs' },
      "'entry' must be a path in the plugin's folder, such as './index.js'",
    ],
  };
  for (const [title, [changes, message]] of Object.entries(BAD_FILES)) {
    it(`rejects a plugin.json with ${title}`, async () => {
      const [status] = (await readEcho(changes)).list();
      const hint = status?.hint == null ? '' : ` (${status.hint})`;
      const [, text] =
        /^plugin 'echo' has a bad plugin\.json:1:\d+: (.*)$/.exec(status?.reason ?? '') ?? [];
      expect(`${text}${hint}`).to.equal(message);
    });
  }

  it('names a plugin without a valid name after its folder', async () => {
    const message =
      "plugin 'echo' has a bad plugin.json:1:9: 'name' must be a name of a-z, 0-9 and -";
    await expectRejection(await readEcho({ name: 'The Echo' }), 'manifest', message);
  });

  it('rejects a plugin.json that is not JSON, with the position', async () => {
    const registry = await readPlugins([
      createFolder({ 'echo/plugin.json': '{\n  "name": echo }' }),
    ]);
    const [status] = registry.list();
    expect(status?.name).to.equal('echo');
    expect(status?.reason).to.match(/^plugin 'echo' has a bad plugin\.json:2:11: /);
  });

  it('rejects a plugin.json that cannot be read', async () => {
    const registry = await readPlugins([
      createFolder({ 'folder/plugin.json/x': '', 'latin/plugin.json': Buffer.from([0x7b, 0xff]) }),
    ]);
    expect(registry.list().map(({ reason }) => reason)).to.deep.equal([
      "plugin 'folder' has a plugin.json that is not a regular file",
      "plugin 'latin' has a plugin.json that is not valid UTF-8 in line 1",
    ]);
  });

  it('rejects a plugin.json that is a pipe or too large, and reads the others', async () => {
    const folder = createFolder({
      'echo/plugin.json': JSON.stringify(VALID),
      'echo/index.mjs': entryOf('echo'),
      'large/plugin.json': Buffer.alloc(4 * 1_048_576 + 1, ' '),
      'pipe/index.mjs': '',
    });
    execFileSync('mkfifo', [join(folder, 'pipe/plugin.json')]);
    const registry = await readPlugins([folder]);
    expect(registry.list().map(({ name, reason }) => [name, reason])).to.deep.equal([
      ['echo', null],
      ['large', "plugin 'large' has a plugin.json that is larger than 4 MiB"],
      ['pipe', "plugin 'pipe' has a plugin.json that is not a regular file"],
    ]);
  });

  it('rejects another contract before it validates the rest', async () => {
    const contract = 2;
    const later = await readEcho({ contract, stars: [] });
    const message = `plugin 'echo' is written for contract ${contract}, this host has 1 (update the host)`;
    await expectRejection(later, 'contract', message);
  });

  it('rejects an entry that is missing, a folder or outside', async () => {
    const missing = "plugin 'echo' has no file './gone.mjs' (is it built?)";
    await expectRejection(await readEcho({ entry: './gone.mjs' }), 'entry', missing);
    const folder = "plugin 'echo' has no file './sub' (is it built?)";
    const registry = await readEcho({ entry: './sub' }, '', { 'echo/sub/x': '' });
    await expectRejection(registry, 'entry', folder);
    const outside = "plugin 'echo' has an entry outside of its folder";
    const escaping = await readEcho({ entry: './../other.mjs' }, '', { 'other.mjs': '' });
    await expectRejection(escaping, 'entry', outside);
  });

  it('rejects an entry that is a link to the outside', async () => {
    const folder = createFolder({ 'echo/plugin.json': JSON.stringify(VALID), 'other.mjs': '' });
    symlinkSync(join(folder, 'other.mjs'), join(folder, 'echo/index.mjs'));
    const message = "plugin 'echo' has an entry outside of its folder";
    await expectRejection(await readPlugins([folder]), 'entry', message);
  });

  it('rejects an import that throws, and keeps the error', async () => {
    const registry = await readEcho({}, `throw new Error('no license');`);
    const message =
      "plugin 'echo' cannot be imported: no license (index.mjs:1:7) (report it to the plugin's author)";
    await expectRejection(registry, 'import', message);
    await expectRejection(registry, 'import', message);
    const far = await readEcho({}, `throw new Error('no file://nas/license:1:2\\n  there');`);
    expect((await rejectionOf(far)).message).to.include(
      'no file://nas/license:1:2 there (index.mjs:1:7)',
    );
    const compiled = await readEcho({}, 'export default { default: { adapters: [] } };');
    const { message: problem, hint } = await rejectionOf(compiled);
    expect(problem).to.include("has a default export without 'adapters': it is CommonJS");
    expect(hint).to.equal('compile it to an ES module (.mjs)');
    const missing = await readEcho({}, `import 'modgate-no-such-package';`);
    expect((await rejectionOf(missing)).hint).to.equal('install its dependencies in its folder');
  });

  it('rejects an import that does not end', async () => {
    const registry = await readEcho({}, 'await new Promise(() => {});');
    const error = await rejectionOf(registry);
    expect(error.stage).to.equal('import');
    expect(error.message).to.include("plugin 'echo' did not finish its import within 5000 ms");
  });

  it('accepts a plugin without adapters', async () => {
    // A plugin of authenticators only; this line has to compile.
    const plugin: Plugin = { authenticators: [] };
    const source = `export default ${JSON.stringify(plugin)};`;
    const registry = await readEcho({ kinds: undefined, authenticators: ['key'] }, source);
    const error = await registry.authenticator('key').catch((reason: Error) => reason);
    expect(String(error)).to.include("has no authenticator for the name 'key'");
  });

  it('rejects a plugin with the kind of another, and names both', async () => {
    const first = createFolder({
      'echo/plugin.json': JSON.stringify(VALID),
      'echo/index.mjs': entryOf('echo'),
    });
    const second = createFolder({
      'a/plugin.json': JSON.stringify({ ...VALID, name: 'a', kinds: ['alone', 'echo'] }),
      'a/index.mjs': entryOf('alone', 'echo'),
    });
    const registry = await readPlugins([first, second]);
    expect((await registry.adapter('echo')).kind).to.equal('echo');
    const error = await rejectionOf(registry, 'alone');
    expect([error.plugin, error.stage, error.reason]).to.deep.equal([
      'a',
      'clash',
      "plugin 'a' has the kind 'echo' of plugin 'echo', which keeps it",
    ]);
  });

  it('assigns a kind to a usable plugin rather than to a rejected one', async () => {
    const folder = createFolder({
      'a/plugin.json': JSON.stringify({ ...VALID, name: 'a', contract: 9 }),
      'b/plugin.json': JSON.stringify({ ...VALID, name: 'b' }),
      'b/index.mjs': entryOf('echo'),
    });
    const registry = await readPlugins([folder]);
    expect(registry.kinds()).to.deep.equal(['echo']);
    expect((await registry.adapter('echo')).kind).to.equal('echo');
  });

  it('loads plugins beside rejected ones', async () => {
    const folder = createFolder({
      'bad/plugin.json': '{',
      'worse/plugin.json': JSON.stringify({ ...VALID, name: 'worse', kinds: ['worse'] }),
      'worse/index.mjs': 'throw null;',
      'good/plugin.json': JSON.stringify({ ...VALID, name: 'good' }),
      'good/index.mjs': entryOf('echo'),
    });
    const registry = await readPlugins([folder]);
    expect((await rejectionOf(registry, 'worse')).stage).to.equal('import');
    expect((await registry.adapter('echo')).kind).to.equal('echo');
    expect(registry.list().map(({ name, state }) => `${name} ${state}`)).to.deep.equal([
      'bad refused',
      'good loaded',
      'worse refused',
    ]);
  });
});
