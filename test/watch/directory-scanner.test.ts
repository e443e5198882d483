import {
  linkSync,
  mkdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { DirectoryScanner, REMOVAL_SETTLE_MS } from '../../core/watch/directory-scanner.js';
import { SETTLE_MS, UNSETTLED_MS } from '../../core/watch/settling.js';
import { createFolder } from '../support/temporary-folder.js';

describe('directory scanner', () => {
  let folder: string;
  let nowMs: number;
  let scanner: DirectoryScanner;
  const write = (name: string, text: string) => writeFileSync(join(folder, name), text);
  const changedAt = async (ms: number) => {
    nowMs = ms;
    return (await scanner.scan(true)).changed.map((file) => 'text' in file && file.text);
  };
  const removedAt = async (ms: number) => {
    nowMs = ms;
    return (await scanner.scan(true)).removed;
  };

  beforeEach(() => {
    folder = createFolder();
    nowMs = 1000;
    scanner = new DirectoryScanner(folder, { now: () => nowMs });
  });

  it('reads every file as it is when changes need not settle', async () => {
    write('a.yaml', 'one');
    const { changed, againAfterMs } = await scanner.scan(false);
    expect(changed.map(({ file }) => file)).to.deep.equal(['a.yaml']);
    expect(againAfterMs).to.equal(null);
  });

  it('returns a file once its content has settled, and each content once', async () => {
    write('a.yaml', 'one');
    expect(await changedAt(0)).to.deep.equal([]);
    write('a.yaml', 'one and more');
    expect(await changedAt(SETTLE_MS)).to.deep.equal([]);
    expect((await scanner.scan(true)).againAfterMs).to.equal(SETTLE_MS);
    expect(await changedAt(2 * SETTLE_MS - 1)).to.deep.equal([]);
    expect(await changedAt(2 * SETTLE_MS)).to.deep.equal(['one and more']);
    expect(await changedAt(9 * SETTLE_MS)).to.deep.equal([]);
  });

  it('returns a file again after it was to forget all, also while that file was read', async () => {
    write('a.yaml', 'one');
    const namedFile = join(folder, 'named.json');
    write('named.json', '{}');
    await scanner.scan(false);
    scanner.forget();
    await scanner.follow('a.yaml', [namedFile]);
    const { changed } = await scanner.scan(false);
    expect(changed.map(({ file }) => file)).to.include('a.yaml');
  });

  it('returns a file again that was replaced, and one that can be opened now', async () => {
    write('a.yaml', 'one');
    symlinkSync(join(folder, 'missing'), join(folder, 'link.yaml'));
    await scanner.scan(false);
    write('next', 'two');
    renameSync(join(folder, 'next'), join(folder, 'a.yaml'));
    write('missing', 'found');
    const { changed } = await scanner.scan(false);
    const texts = changed.map((file) => 'text' in file && file.text);
    expect(texts).to.deep.equal(['two', 'found']);
    expect((await scanner.scan(false)).changed).to.deep.equal([]);
  });

  it('returns a file again that changed after its read and before its named files were known', async () => {
    write('a.yaml', 'one');
    write('named.json', '{}');
    await scanner.scan(false);
    write('a.yaml', 'another');
    await scanner.follow('a.yaml', [join(folder, 'named.json')]);
    const { changed } = await scanner.scan(false);
    expect(changed.map((file) => 'text' in file && file.text)).to.deep.equal(['another']);
  });

  it('does not return a file that an equal one replaced, unless a file that it names differs', async () => {
    const replace = (name: string, text: string) => {
      write('next', text);
      renameSync(join(folder, 'next'), join(folder, name));
    };
    const changed = async () => (await scanner.scan(false)).changed.map(({ file }) => file);
    write('a.yaml', 'one');
    write('named.txt', '{}');
    await changed();
    await scanner.follow('a.yaml', [join(folder, 'named.txt')]);
    replace('a.yaml', 'one');
    await changed();
    replace('a.yaml', 'one');
    expect(await changed()).to.deep.equal([]);
    replace('named.txt', '[]');
    expect(await changed()).to.deep.equal(['a.yaml']);
    replace('a.yaml', 'one');
    scanner.forget();
    expect(await changed()).to.include('a.yaml');
  });

  it('measures the settle time from the end of a read', async () => {
    write('a.yaml', 'one');
    let calls = 0;
    // A scan that takes a second.
    const clock = { now: () => (calls++ < 2 ? 0 : 1000) };
    const late = new DirectoryScanner(folder, clock);
    expect((await late.scan(true)).changed).to.deep.equal([]);
    expect((await late.scan(true)).changed).to.deep.equal([]);
  });

  it('treats a removal as a change when the file is back in time', async () => {
    write('a.yaml', 'one');
    await scanner.scan(false);
    rmSync(join(folder, 'a.yaml'));
    expect(await removedAt(2000)).to.deep.equal([]);
    expect(await removedAt(2000 + REMOVAL_SETTLE_MS - 1)).to.deep.equal([]);
    write('a.yaml', 'two');
    expect(await changedAt(3000)).to.deep.equal([]);
    expect(await changedAt(3000 + SETTLE_MS - 1)).to.deep.equal([]);
    expect(await changedAt(3000 + SETTLE_MS)).to.deep.equal(['two']);
  });

  it('reports a removal when the file has been missing for long enough', async () => {
    write('a.yaml', 'one');
    await scanner.scan(false);
    rmSync(join(folder, 'a.yaml'));
    expect(await removedAt(2000)).to.deep.equal([]);
    expect(await removedAt(2000 + REMOVAL_SETTLE_MS - 1)).to.deep.equal([]);
    expect(await removedAt(2000 + REMOVAL_SETTLE_MS)).to.deep.equal(['a.yaml']);
    expect(await removedAt(9000)).to.deep.equal([]);
  });

  it('reports a removal together with a new file that has not settled', async () => {
    write('a.yaml', 'one');
    await scanner.scan(false);
    write('b.yaml', 'half');
    rmSync(join(folder, 'a.yaml'));
    expect(await removedAt(2000)).to.deep.equal([]);
    write('b.yaml', 'whole');
    nowMs = 2000 + REMOVAL_SETTLE_MS;
    expect(await scanner.scan(true)).to.deep.include({ changed: [], removed: [] });
    nowMs += SETTLE_MS;
    const { changed, removed } = await scanner.scan(true);
    expect(changed.map(({ file }) => file)).to.deep.equal(['b.yaml']);
    expect(removed).to.deep.equal(['a.yaml']);
  });

  it('reports a removal in the end, although a new file never settles', async () => {
    write('a.yaml', 'one');
    await scanner.scan(false);
    write('b.yaml', 'half');
    rmSync(join(folder, 'a.yaml'));
    for (let ms = 0; ms < UNSETTLED_MS; ms += SETTLE_MS) {
      write('b.yaml', `half of ${ms}`);
      expect(await removedAt(2000 + ms)).to.deep.equal([]);
    }
    write('b.yaml', 'another half');
    expect(await removedAt(2000 + UNSETTLED_MS)).to.deep.equal(['a.yaml']);
  });

  it('reports a renamed file at once', async () => {
    write('a.yaml', 'one');
    await scanner.scan(false);
    renameSync(join(folder, 'a.yaml'), join(folder, 'b.yaml'));
    const { renamed, removed } = await scanner.scan(true);
    expect({ renamed, removed }).to.deep.equal({
      renamed: [{ from: 'a.yaml', to: 'b.yaml' }],
      removed: [],
    });
  });

  it('reports a new file with the inode of a removed one as another file', async () => {
    write('a.yaml', 'one');
    await scanner.scan(false);
    // The same inode, as a file system may give it to the next new file.
    write('a.yaml', 'three');
    renameSync(join(folder, 'a.yaml'), join(folder, 'b.yaml'));
    expect((await scanner.scan(true)).renamed).to.deep.equal([]);
    nowMs += SETTLE_MS;
    expect((await scanner.scan(true)).changed.map(({ file }) => file)).to.deep.equal(['b.yaml']);
    expect(await removedAt(nowMs + REMOVAL_SETTLE_MS)).to.deep.equal(['a.yaml']);
  });

  it('reports a file that is renamed while the folder is scanned', async () => {
    write('a.yaml', 'one');
    let afterListing = () => {};
    const now = () => {
      afterListing();
      return nowMs;
    };
    const racing = new DirectoryScanner(folder, { now });
    await racing.scan(false);
    afterListing = () => {
      afterListing = () => {};
      renameSync(join(folder, 'a.yaml'), join(folder, 'b.yaml'));
    };
    expect(await racing.scan(true)).to.deep.include({ renamed: [], removed: [] });
    expect(await racing.scan(true)).to.deep.include({
      renamed: [{ from: 'a.yaml', to: 'b.yaml' }],
      removed: [],
    });
  });

  it('reports a renamed file that was replaced before and has not settled', async () => {
    write('a.yaml', 'one');
    await scanner.scan(false);
    write('a.yaml.tmp', 'two');
    renameSync(join(folder, 'a.yaml.tmp'), join(folder, 'a.yaml'));
    expect(await changedAt(2000)).to.deep.equal([]);
    renameSync(join(folder, 'a.yaml'), join(folder, 'b.yaml'));
    nowMs = 2050;
    const { renamed, removed } = await scanner.scan(true);
    expect({ renamed, removed }).to.deep.equal({
      renamed: [{ from: 'a.yaml', to: 'b.yaml' }],
      removed: [],
    });
    expect(await changedAt(2050 + SETTLE_MS)).to.deep.equal(['two']);
  });

  it('returns a file whose content is the same, however often it is touched', async () => {
    write('a.yaml', 'one');
    await scanner.scan(false);
    for (let ms = 0; ms < SETTLE_MS; ms += 50) {
      utimesSync(join(folder, 'a.yaml'), ms, ms);
      expect(await changedAt(2000 + ms)).to.deep.equal([]);
    }
    utimesSync(join(folder, 'a.yaml'), SETTLE_MS, SETTLE_MS);
    expect(await changedAt(2000 + SETTLE_MS)).to.deep.equal(['one']);
  });

  it('never returns a file that keeps changing, and reports it once', async () => {
    write('a.yaml', 'one');
    await scanner.scan(false);
    const unsettled: number[] = [];
    for (let ms = 0; ms <= 2 * UNSETTLED_MS; ms += SETTLE_MS) {
      write('a.yaml', `half of ${ms}`);
      nowMs = 2000 + ms;
      const result = await scanner.scan(true);
      expect(result.changed).to.deep.equal([]);
      if (result.unsettled.includes('a.yaml')) unsettled.push(ms);
    }
    expect(unsettled).to.deep.equal([UNSETTLED_MS]);
    expect(await changedAt(nowMs + SETTLE_MS)).to.deep.equal([`half of ${2 * UNSETTLED_MS}`]);
  });

  it('waits until a file that a descriptor names has settled', async () => {
    write('a.yaml', 'one');
    const manifestFile = join(folder, 'a.manifest.json');
    await scanner.scan(false);
    await scanner.follow('a.yaml', [manifestFile]);
    for (const [ms, text] of Object.entries(['{', '{}', '{}'])) {
      writeFileSync(manifestFile, text);
      expect(await changedAt(2000 + Number(ms) * SETTLE_MS)).to.deep.equal(
        ms === '2' ? ['one'] : [],
      );
    }
  });

  it('treats a path with a NUL character as a missing file', async () => {
    write('a.yaml', 'one');
    await scanner.scan(false);
    await scanner.follow('a.yaml', [join(folder, 'a\0b')]);
    expect(await changedAt(2000)).to.deep.equal([]);
    write('a.yaml', 'two');
    await changedAt(3000);
    expect(await changedAt(3000 + SETTLE_MS)).to.deep.equal(['two']);
  });

  describe('after the first scan', () => {
    const pollAt = async (ms: number) => {
      nowMs = ms;
      return (await scanner.scan(true)).changed.map(({ file }) => file);
    };
    const pollTwice = async () => {
      await pollAt(2000);
      return pollAt(2000 + SETTLE_MS);
    };

    beforeEach(async () => {
      for (const name of ['plain.yaml', 'named.yaml', 'other/linked.yaml', 'other/second.yaml']) {
        mkdirSync(join(folder, 'other'), { recursive: true });
        write(name, 'one');
      }
      symlinkSync('other/linked.yaml', join(folder, 'link.yaml'));
      linkSync(join(folder, 'other/second.yaml'), join(folder, 'second-name.yaml'));
      await scanner.scan(false);
      await scanner.follow('named.yaml', [join(folder, 'other/named.json')]);
      await pollAt(1000);
      expect(await pollAt(1000 + SETTLE_MS)).to.deep.equal([]);
    });

    it('checks plain files, targets of links, files with a second name, and named files', async () => {
      write('plain.yaml', 'two!');
      write('other/linked.yaml', 'two!');
      write('other/second.yaml', 'two!');
      write('other/named.json', 'one');
      expect(await pollTwice()).to.deep.equal([
        ...['link.yaml', 'named.yaml', 'plain.yaml', 'second-name.yaml'],
      ]);
    });

    it('finds new and removed files', async () => {
      write('new.yaml', 'one');
      rmSync(join(folder, 'plain.yaml'));
      expect(await pollTwice()).to.deep.equal(['new.yaml']);
      nowMs = 2000 + REMOVAL_SETTLE_MS;
      expect((await scanner.scan(true)).removed).to.deep.equal(['plain.yaml']);
    });

    it('finds an entry that has changed its type and kept its name', async () => {
      rmSync(join(folder, 'plain.yaml'));
      mkdirSync(join(folder, 'plain.yaml'));
      await pollAt(2000);
      nowMs = 2000 + REMOVAL_SETTLE_MS;
      const gone = await scanner.scan(true);
      expect(gone.removed).to.deep.equal(['plain.yaml']);
      expect(gone.ignored).to.deep.include({ file: 'plain.yaml', reason: 'is a sub-folder' });
      rmSync(join(folder, 'plain.yaml'), { recursive: true });
      write('plain.yaml', 'two!');
      await pollAt(3000);
      expect(await pollAt(3000 + SETTLE_MS)).to.deep.equal(['plain.yaml']);
    });
  });
});
