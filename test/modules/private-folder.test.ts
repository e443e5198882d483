import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { LastGoodStore } from '../../core/modules/last-good.js';
import { describeFileStatus, StatusFiles } from '../../core/modules/status-files.js';
import { createFolder } from '../support/temporary-folder.js';

const STATUS = describeFileStatus({
  file: 'crm.yaml',
  name: 'crm',
  state: 'live',
  since: new Date(0),
  reason: null,
  hint: null,
  attempts: 0,
  descriptor: null,
  live: null,
  mounts: [],
  fileDigest: null,
  rejected: null,
  uncaughtErrors: 0,
});
const LAST_GOOD = { text: 'module: crm', manifest: {}, rejected: null };

describe('files that the host writes', () => {
  let folder: string;
  let elsewhere: string;
  let warnings: string[];
  const log = {
    debug() {},
    info() {},
    error() {},
    warn: (_fields: object, message: string) => void warnings.push(message),
  };
  const victim = () => join(elsewhere, 'crm.yaml.json');
  const expectUntouched = () => {
    expect(readdirSync(elsewhere)).to.deep.equal(['crm.yaml.json']);
    expect(readFileSync(victim(), 'utf8')).to.equal('precious');
  };

  beforeEach(() => {
    folder = createFolder();
    elsewhere = createFolder({ 'crm.yaml.json': 'precious' });
    warnings = [];
  });

  describe('status files', () => {
    const use = async (work: (files: StatusFiles) => void) => {
      const files = new StatusFiles(folder, log);
      work(files);
      await files.flush();
    };

    it('are written, replaced and removed', async () => {
      const path = join(folder, '.status', 'crm.yaml.json');
      await use((files) => files.write(STATUS));
      await use((files) => files.write({ ...STATUS, state: 'stale' }));
      expect(JSON.parse(readFileSync(path, 'utf8'))).to.include({ module: 'crm', state: 'stale' });
      expect(readdirSync(join(folder, '.status'))).to.deep.equal(['crm.yaml.json']);
      await use((files) => files.remove('crm.yaml'));
      expect(existsSync(path)).to.equal(false);
    });

    for (const [title, work] of Object.entries<(files: StatusFiles) => void>({
      write: (files) => files.write(STATUS),
      remove: (files) => files.remove('crm.yaml'),
      'clean up': (files) => files.keepOnly(new Set()),
    })) {
      it(`do not follow a link in the place of the folder to ${title}`, async () => {
        symlinkSync(elsewhere, join(folder, '.status'));
        await use(work);
        expectUntouched();
        expect(warnings).to.deep.equal(['status files cannot be written']);
      });
    }

    it('do not follow a link in the place of a file or of its temporary file', async () => {
      mkdirSync(join(folder, '.status'));
      for (const name of ['crm.yaml.json', 'crm.yaml.json.new']) {
        symlinkSync(victim(), join(folder, '.status', name));
      }
      await use((files) => files.write(STATUS));
      expectUntouched();
      const text = readFileSync(join(folder, '.status', 'crm.yaml.json'), 'utf8');
      expect(JSON.parse(text)).to.include({ module: 'crm' });
    });

    it('are cleaned up, and anything but a regular file stays', async () => {
      mkdirSync(join(folder, '.status', 'folder'), { recursive: true });
      writeFileSync(join(folder, '.status', 'old.yaml.json'), '{}');
      symlinkSync(victim(), join(folder, '.status', 'link.json'));
      await use((files) => files.keepOnly(new Set(['crm.yaml'])));
      expect(readdirSync(join(folder, '.status')).sort()).to.deep.equal(['folder', 'link.json']);
      expectUntouched();
    });
  });

  describe('last good versions', () => {
    it('are looked for in a list of the folder until the start of the host has ended', async () => {
      const outside = new LastGoodStore(folder, log);
      outside.write('crm.yaml', LAST_GOOD);
      await outside.flush();
      let end = () => {};
      const started = new Promise<void>((resolve) => {
        end = resolve;
      });
      const store = new LastGoodStore(folder, log);
      store.defer(started);
      await store.keepOnly(new Set(['crm.yaml', 'wiki.yaml']));
      outside.write('wiki.yaml', LAST_GOOD);
      await outside.flush();
      expect(await store.read('crm.yaml')).to.deep.equal(LAST_GOOD);
      expect(await store.read('wiki.yaml')).to.equal(null);
      end();
      await started;
      expect(await store.read('wiki.yaml')).to.deep.equal(LAST_GOOD);
    });

    for (const outcome of ['succeeded', 'failed']) {
      it(`are written when the start of the host has ${outcome}, and read before`, async () => {
        let end: () => void = () => {};
        const started = new Promise<void>((resolve, reject) => {
          end = outcome === 'failed' ? () => reject(new Error('no folder')) : resolve;
        });
        const store = new LastGoodStore(folder, log);
        store.defer(started);
        store.write('crm.yaml', LAST_GOOD);
        expect(await store.read('crm.yaml')).to.deep.equal(LAST_GOOD);
        // A write that begins later is complete.
        const other = new LastGoodStore(createFolder(), log);
        other.write('crm.yaml', LAST_GOOD);
        await other.flush();
        expect(existsSync(join(folder, 'last-good'))).to.equal(false);
        end();
        await store.flush();
        expect(await new LastGoodStore(folder, log).read('crm.yaml')).to.deep.equal(LAST_GOOD);
        await started.catch(() => {});
      });
    }

    it('do not follow a link in the place of the folder', async () => {
      symlinkSync(elsewhere, join(folder, 'last-good'));
      const store = new LastGoodStore(folder, log);
      store.write('crm.yaml', LAST_GOOD);
      await store.flush();
      await store.keepOnly(new Set());
      expect(await new LastGoodStore(folder, log).read('crm.yaml')).to.equal(null);
      expectUntouched();
    });

    it('do not follow a link in the place of a file or of its temporary file', async () => {
      mkdirSync(join(folder, 'last-good'));
      const path = join(folder, 'last-good', 'crm.yaml.json');
      symlinkSync(victim(), path);
      writeFileSync(victim(), JSON.stringify(LAST_GOOD));
      expect(await new LastGoodStore(folder, log).read('crm.yaml')).to.equal(null);
      writeFileSync(victim(), 'precious');
      symlinkSync(victim(), `${path}.new`);
      const store = new LastGoodStore(folder, log);
      store.remove('crm.yaml');
      await store.flush();
      store.write('crm.yaml', LAST_GOOD);
      await store.flush();
      expectUntouched();
      expect(await new LastGoodStore(folder, log).read('crm.yaml')).to.deep.equal(LAST_GOOD);
    });
  });
});
