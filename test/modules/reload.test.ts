import {
  existsSync,
  linkSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { SETTLE_MS } from '../../core/watch/settling.js';
import { startFakeHost } from '../support/cli/fake-host.js';
import { buildManifest, describeModule } from '../support/http/modules.js';
import { waitUntil } from '../support/http/wait-until.js';
import {
  describeCrmOf,
  hasLogged,
  MORE_ROUTES,
  ROUTES,
  startCrmHost,
  startCrmProcess,
} from '../support/reload/crm-host.js';
import { useEach } from '../support/use.js';

/** Opens slowly, like a module that connects to another system. */
const SLOW_MODULE = `await new Promise((resolve) => setTimeout(resolve, 1000));
export default async () => ({ status: 200, headers: { 'content-type': 'application/json' }, body: 1 });
`;

describe('reload', () => {
  const describeCrm = (routes = ROUTES, overrides: object = {}) =>
    describeCrmOf(host, routes, overrides);

  const host = useEach(startCrmHost);

  it('follows an added and a removed file', async () => {
    host.write('new.json', describeModule('new', host.provider.url, ROUTES));
    await host.waitFor('new.json', 'live');
    expect(await host.get('new', '/items')).to.equal(200);
    host.remove('new.json');
    await waitUntil('404', async () => (await host.get('new', '/items')) === 404);
    expect(await host.entry('new.json')).to.equal(undefined);
  });

  it('follows a change in place and an atomic rename', async () => {
    host.write('crm.json', describeCrm(MORE_ROUTES));
    await waitUntil('200', async () => (await host.get('crm', '/more')) === 200);
    host.replace('crm.json', describeCrm(ROUTES));
    await waitUntil('404', async () => (await host.get('crm', '/more')) === 404);
  });

  it('keeps the object of an unchanged module', async () => {
    await host.get('other', '/items');
    const before = await host.entry('other.json');
    host.write('crm.json', describeCrm(MORE_ROUTES));
    // Another layout of the same values is not a change.
    host.write(
      'other.json',
      JSON.stringify(describeModule('other', host.provider.url, ROUTES), null, 4),
    );
    await waitUntil('200', async () => (await host.get('crm', '/more')) === 200);
    const after = await host.entry('other.json');
    // Only the digest of the text differs.
    expect({ ...after, file_digest: before?.file_digest ?? null }).to.deep.equal(before);
    expect(after?.counts.calls).to.equal(1);
  });

  it('keeps the counts of a module when it is reloaded, as it keeps the time of its state', async () => {
    await host.get('crm', '/items');
    const before = await host.entry('crm.json');
    host.write('crm.json', describeCrm(MORE_ROUTES));
    await waitUntil('200', async () => (await host.get('crm', '/more')) === 200);
    const after = await host.entry('crm.json');
    expect(before?.counts.calls).to.equal(1);
    expect(after).to.deep.include({ state: 'live', since: before?.since });
    expect(after?.counts.calls).to.equal(2);
  });

  it('keeps the object of a module when its file is renamed', async () => {
    await host.get('crm', '/items');
    host.rename('crm.json', 'renamed.json');
    await host.waitFor('renamed.json', 'live');
    expect((await host.entry('renamed.json'))?.counts.calls).to.equal(1);
    expect(await host.entry('crm.json')).to.equal(undefined);
  });

  it('follows enabled: false, and back', async () => {
    host.write('crm.json', describeCrm(ROUTES, { enabled: false }));
    await host.waitFor('crm.json', 'disabled');
    expect(await host.get('crm', '/items')).to.equal(404);
    host.write('crm.json', describeCrm());
    await host.waitFor('crm.json', 'live');
    expect(await host.get('crm', '/items')).to.equal(200);
  });

  it('follows a change of the manifest that a descriptor names', async () => {
    host.write('files/crm.manifest.json', buildManifest('crm', ROUTES));
    host.write('crm.json', { ...describeCrm(), manifest: './files/crm.manifest.json' });
    await waitUntil('live', async () => (await host.get('crm', '/items')) === 200);
    await host.waitFor('crm.json', 'live');
    host.write('files/crm.manifest.json', buildManifest('crm', MORE_ROUTES));
    await waitUntil('200', async () => (await host.get('crm', '/more')) === 200);
  });

  it('serves the new version once a file that it names is fixed', async () => {
    host.write('crm.json', { ...describeCrm(), manifest: './late.manifest.json' });
    const stale = await host.waitFor('crm.json', 'stale');
    expect(stale.reason).to.contain("names the file './late.manifest.json', which does not exist");
    host.write('late.manifest.json', buildManifest('crm', MORE_ROUTES));
    await waitUntil('200', async () => (await host.get('crm', '/more')) === 200);
    expect((await host.entry('crm.json'))?.state).to.equal('live');
  });

  it('serves the old version and reports the reason until an invalid file is fixed', async () => {
    host.write('crm.json', '{"module": "crm", "provdier": {}}');
    const stale = await host.waitFor('crm.json', 'stale');
    expect(stale.reason).to.match(/crm\.json:1:\d+ .*provdier/);
    expect(stale.hint).to.equal("did you mean 'provider'?");
    expect(await host.get('crm', '/items')).to.equal(200);
    host.write('crm.json', describeCrm(MORE_ROUTES));
    await host.waitFor('crm.json', 'live');
    expect(await host.get('crm', '/more')).to.equal(200);
  });

  it('ignores a file that is still being written', async () => {
    let text: string;
    let index = 0;
    do {
      index += 1;
      text = JSON.stringify(describeModule(`slow${index}`, host.provider.url, MORE_ROUTES));
    } while (!(await writeSteadily(`slow${index}.json`, text)));
    const file = `slow${index}.json`;
    await host.waitFor(file, 'live');
    const lines = () => moduleLines(file);
    await waitUntil('its line', () => lines().length > 0);
    expect(lines().map((line) => line['state'])).to.deep.equal(['live']);
  });

  /** Writes in pieces, over several settle times; `false` when the machine was too slow. */
  async function writeSteadily(name: string, text: string): Promise<boolean> {
    let lastAt = performance.now();
    for (let end = 0; end < text.length; end += 20) {
      host.write(name, text.slice(0, end));
      await new Promise((resolve) => setTimeout(resolve, 20));
      if (performance.now() - lastAt > SETTLE_MS * 0.8) return false;
      lastAt = performance.now();
    }
    host.write(name, text);
    return performance.now() - lastAt < SETTLE_MS * 0.8;
  }

  it('treats a removal and a new file in its place as a change', async () => {
    host.remove('crm.json');
    host.write('crm.json', describeCrm(MORE_ROUTES));
    const statuses = new Set<number>();
    await waitUntil('the change', async () => {
      statuses.add(await host.get('crm', '/items'));
      return (await host.get('crm', '/more')) === 200;
    });
    expect([...statuses]).to.deep.equal([200]);
    expect((await host.list()).map(({ state }) => state)).to.deep.equal(['live', 'live']);
  });

  it('follows the symlink swap of a ConfigMap, and an edit behind a symlink', async () => {
    host.write('..v1/map.json', describeModule('map', host.provider.url, ROUTES));
    host.write('..v2/map.json', describeModule('map', host.provider.url, MORE_ROUTES));
    host.link('..v1', '..data');
    host.link('..data/map.json', 'map.json');
    await host.waitFor('map.json', 'live');
    host.link('..v2', '..data');
    await waitUntil('200', async () => (await host.get('map', '/more')) === 200);
    host.write('..v2/map.json', describeModule('map', host.provider.url, ROUTES));
    await waitUntil('404', async () => (await host.get('map', '/more')) === 404);
  });

  it('follows an edit through a hard link, which raises no event in the folder', async () => {
    const elsewhere = `${host.modules}.elsewhere.json`;
    linkSync(join(host.modules, 'crm.json'), elsewhere);
    // Creating the link raises an event; its check must be over.
    await new Promise((resolve) => setTimeout(resolve, 5 * SETTLE_MS));
    writeFileSync(elsewhere, JSON.stringify(describeCrm(MORE_ROUTES)));
    await waitUntil('200', async () => (await host.get('crm', '/more')) === 200);
    rmSync(elsewhere);
  });

  it('keeps serving while the folder is missing, and follows it when it is back', async () => {
    const away = `${host.modules}.away`;
    renameSync(host.modules, away);
    await waitUntil('a log line', () =>
      logged('modules folder unavailable; serving the last loaded modules'),
    );
    expect(await host.get('crm', '/items')).to.equal(200);
    writeFileSync(join(away, 'crm.json'), JSON.stringify(describeCrm(MORE_ROUTES)));
    renameSync(away, host.modules);
    await waitUntil('200', async () => (await host.get('crm', '/more')) === 200);
    host.write('crm.json', describeCrm());
    await waitUntil('404', async () => (await host.get('crm', '/more')) === 404);
  });

  it('does not create the folder again when it writes status files', async () => {
    const away = `${host.modules}.away`;
    // The host has many status files to write when the folder disappears.
    for (let index = 0; index < 50; index += 1) {
      host.write(`m${index}.json`, describeModule(`m${index}`, host.provider.url, ROUTES));
    }
    await waitUntil('live', async () => (await host.get('m0', '/items')) === 200);
    renameSync(host.modules, away);
    await waitUntil('a log line', () =>
      logged('modules folder unavailable; serving the last loaded modules'),
    );
    expect(existsSync(host.modules)).to.equal(false);
    expect(await host.get('m0', '/items')).to.equal(200);
  });

  it('follows a folder that is replaced by another one', async () => {
    mkdirSync(`${host.modules}.new`);
    const text = JSON.stringify(describeModule('fresh', host.provider.url, ROUTES));
    writeFileSync(join(`${host.modules}.new`, 'fresh.json'), text);
    renameSync(host.modules, `${host.modules}.old`);
    renameSync(`${host.modules}.new`, host.modules);
    await host.waitFor('fresh.json', 'live');
    await waitUntil('404', async () => (await host.get('crm', '/items')) === 404);
  });

  it('follows a folder that is removed and created again, and later changes in it', async () => {
    rmSync(host.modules, { recursive: true });
    mkdirSync(host.modules);
    host.write('crm.json', describeCrm(MORE_ROUTES));
    await waitUntil('200', async () => (await host.get('crm', '/more')) === 200);
    host.write('crm.json', describeCrm(ROUTES));
    await waitUntil('404', async () => (await host.get('crm', '/more')) === 404);
  });

  it('follows 200 files that are added together', async () => {
    for (let index = 0; index < 200; index += 1) {
      host.write(`m${index}.json`, describeModule(`m${index}`, host.provider.url, ROUTES));
    }
    await waitUntil(
      'all live',
      async () => (await host.list()).filter(({ state }) => state === 'live').length === 202,
    );
    expect(await host.get('m199', '/items')).to.equal(200);
  });

  it('leaves a name to the file that has it, until that file is removed', async () => {
    host.write('a-thief.json', describeCrm(MORE_ROUTES));
    const rejected = await host.waitFor('a-thief.json', 'refused');
    expect(rejected.reason).to.equal("module 'crm' is already configured by crm.json");
    expect(await host.get('crm', '/more')).to.equal(404);
    host.remove('crm.json');
    await host.waitFor('a-thief.json', 'live');
    expect(await host.get('crm', '/more')).to.equal(200);
  });

  it('reports a module as live only when it serves, also while names move', async () => {
    host.write('local/slow.mjs', SLOW_MODULE);
    host.write('crm.json', describeModule('other', host.provider.url, MORE_ROUTES));
    host.write('other.json', {
      module: 'crm',
      provider: { kind: 'local', config: { file: './local/slow.mjs' } },
      manifest: { inline: buildManifest('crm', ROUTES) },
    });
    // Until the other file is read as well, it is stale: its name is taken.
    await waitUntil('its new name', async () => {
      const { name, state } = (await host.entry('crm.json')) ?? {};
      return name === 'other' && state === 'live';
    });
    expect(await host.get('other', '/more')).to.equal(200);
  });

  it('lets two files swap their names', async () => {
    host.write('crm.json', describeModule('other', host.provider.url, MORE_ROUTES));
    host.write('other.json', describeModule('crm', host.provider.url, ROUTES));
    await waitUntil('200', async () => (await host.get('other', '/more')) === 200);
    expect(await host.get('crm', '/items')).to.equal(200);
    expect((await host.list()).map(({ state }) => state)).to.deep.equal(['live', 'live']);
  });

  it('finishes requests in flight on their version', async () => {
    host.provider.answer({ delayMs: 1500 });
    const slow = host.get('crm', '/items');
    await waitUntil('the provider receives a request', () => host.provider.requests.length > 0);
    host.write('crm.json', describeCrm(MORE_ROUTES));
    await host.waitFor('crm.json', 'live');
    await waitUntil('gone from the routes', async () => {
      host.provider.answer({});
      return (await host.get('crm', '/more')) === 200;
    });
    expect(await slow).to.equal(200);
  });

  it('writes one line for each change of a module', async () => {
    host.write('crm.json', describeCrm(MORE_ROUTES));
    await waitUntil('a line', () => moduleLines('crm.json').length > 1);
    host.rename('crm.json', 'renamed.json');
    await waitUntil('a line', () => moduleLines('renamed.json').length > 0);
    host.remove('renamed.json');
    const isRemoved = () => moduleLines('renamed.json').some(({ state }) => state === 'removed');
    await waitUntil('a line', isRemoved);
    const lines = [...moduleLines('crm.json'), ...moduleLines('renamed.json')];
    expect(lines.map(({ module, state, changed }) => [module, state, changed])).to.deep.equal([
      ['crm', 'live', ['added']],
      ['crm', 'live', ['manifest']],
      ['crm', 'live', ['file']],
      ['crm', 'removed', ['removed']],
    ]);
  });

  function moduleLines(file: string): Record<string, unknown>[] {
    return host.running
      .logs()
      .filter(
        ({ msg, file: of }) =>
          /^module (?:changed|renamed|removed)$/.test(String(msg)) && of === file,
      );
  }

  const logged = (message: string) => hasLogged(host, message);

  describe('status files', () => {
    const read = (file: string) =>
      JSON.parse(readFileSync(join(host.modules, '.status', `${file}.json`), 'utf8'));

    it('show the state of each descriptor', async () => {
      await waitUntil('a file', () => existsSync(join(host.modules, '.status', 'crm.json.json')));
      expect(read('crm.json')).to.include({ module: 'crm', state: 'live', reason: null });
      host.write('crm.json', '{"module": "crm", "provdier": {}}');
      await waitUntil('stale', () => read('crm.json').state === 'stale');
      expect(read('crm.json').hint).to.equal("did you mean 'provider'?");
      const { rejected_digest, file_digest } = read('crm.json');
      expect(rejected_digest)
        .to.match(/^sha256:[0-9a-f]{64}$/)
        .and.not.equal(file_digest);
      host.write('crm.json', '{"module": "crm", "provdier":   {}}');
      await waitUntil(
        'another text is rejected for the same reason',
        () => read('crm.json').rejected_digest !== rejected_digest,
      );
      host.remove('crm.json');
      await waitUntil('gone', () => !existsSync(join(host.modules, '.status', 'crm.json.json')));
    });
  });
});

describe('reload of a host in a separate process', () => {
  it('reads all files again on SIGHUP', async () => {
    const host = await startCrmProcess();
    process.kill(host.running.pid, 'SIGHUP');
    await waitUntil('a log line', () => hasLogged(host, 'modules folder rescanned'));
    expect(await host.get('crm', '/items')).to.equal(200);
    await host.close();
  });

  it('requests manifests behind a URL again on SIGHUP', async () => {
    let routes = ROUTES;
    const source = await startFakeHost(() => ({ body: buildManifest('remote', routes) }));
    const host = await startCrmProcess();
    const descriptor = describeModule('remote', host.provider.url, ROUTES);
    host.write('remote.json', { ...descriptor, manifest: { url: source.url } });
    await waitUntil('a module', async () => (await host.get('remote', '/items')) === 200);
    routes = MORE_ROUTES;
    const added = MORE_ROUTES.at(-1)?.path ?? '';
    expect(await host.get('remote', added)).to.equal(404);
    process.kill(host.running.pid, 'SIGHUP');
    await waitUntil('a route', async () => (await host.get('remote', added)) === 200);
    await host.close();
    await source.close();
  });
});
