import {
  linkSync,
  mkdirSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { DirectoryScanner, SETTLE_MS } from '../../core/watch/directory-scanner.js';
import { createFolder, removeFoldersAfterEach } from '../support/documents/temporary-folder.js';

describe('DirectoryScanner', () => {
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

  removeFoldersAfterEach();

  it('takes everything as it is when it is not to settle', async () => {
    write('a.yaml', 'one');
    const { changed, againAfterMs } = await scanner.scan(false);
    expect(changed.map(({ file }) => file)).to.deep.equal(['a.yaml']);
    expect(againAfterMs).to.equal(null);
  });

  it('gives a file when it has stood still, and each state of it once', async () => {
    write('a.yaml', 'one');
    expect(await changedAt(0)).to.deep.equal([]);
    write('a.yaml', 'one and more');
    expect(await changedAt(SETTLE_MS)).to.deep.equal([]);
    expect((await scanner.scan(true)).againAfterMs).to.equal(SETTLE_MS);
    expect(await changedAt(2 * SETTLE_MS - 1)).to.deep.equal([]);
    expect(await changedAt(2 * SETTLE_MS)).to.deep.equal(['one and more']);
    expect(await changedAt(9 * SETTLE_MS)).to.deep.equal([]);
  });

  it('counts from when it saw the file, not from when the look began', async () => {
    write('a.yaml', 'one');
    let calls = 0;
    // A look that is held up for a second between its beginning and its end.
    const clock = { now: () => (calls++ < 2 ? 0 : 1000) };
    const late = new DirectoryScanner(folder, clock);
    expect((await late.scan(true)).changed).to.deep.equal([]);
    expect((await late.scan(true)).changed).to.deep.equal([]);
  });

  it('takes a removal that is made good in time for a change', async () => {
    write('a.yaml', 'one');
    await scanner.scan(false);
    rmSync(join(folder, 'a.yaml'));
    expect(await removedAt(2000)).to.deep.equal([]);
    expect(await removedAt(2299)).to.deep.equal([]);
    write('a.yaml', 'two');
    expect(await changedAt(2400)).to.deep.equal([]);
    expect(await changedAt(2500)).to.deep.equal(['two']);
  });

  it('tells a removal when the file has been gone for long enough', async () => {
    write('a.yaml', 'one');
    await scanner.scan(false);
    rmSync(join(folder, 'a.yaml'));
    expect(await removedAt(2000)).to.deep.equal([]);
    expect(await removedAt(2300)).to.deep.equal(['a.yaml']);
    expect(await removedAt(2600)).to.deep.equal([]);
  });

  it('tells a file that got another name at once', async () => {
    write('a.yaml', 'one');
    await scanner.scan(false);
    renameSync(join(folder, 'a.yaml'), join(folder, 'b.yaml'));
    const { renamed, removed } = await scanner.scan(true);
    expect({ renamed, removed }).to.deep.equal({
      renamed: [{ from: 'a.yaml', to: 'b.yaml' }],
      removed: [],
    });
  });

  describe('told where something may have changed', () => {
    const scanAt = async (ms: number, ...hints: string[]) => {
      nowMs = ms;
      const paths = new Set(hints.map((name) => join(folder, name)));
      return (await scanner.scan(true, paths)).changed.map(({ file }) => file);
    };

    beforeEach(async () => {
      mkdirSync(join(folder, 'files'));
      for (const name of ['a.yaml', 'b.yaml', 'files/b.manifest.json']) write(name, 'one');
      symlinkSync('files', join(folder, '..data'));
      await scanner.scan(false);
      await scanner.follow('b.yaml', [join(folder, 'files/b.manifest.json')]);
    });

    it('looks there, and at what is new or has not settled', async () => {
      for (const name of ['a.yaml', 'b.yaml', 'new.yaml']) write(name, 'two!');
      await scanAt(2000, 'a.yaml');
      expect(await scanAt(2000 + SETTLE_MS)).to.deep.equal(['a.yaml', 'new.yaml']);
      expect(await scanAt(9000)).to.deep.equal([]);
      await scanAt(9000, 'b.yaml');
      expect(await scanAt(9000 + SETTLE_MS)).to.deep.equal(['b.yaml']);
    });

    it('looks at whoever names something in the folder of the hint', async () => {
      write('a.yaml', 'two!');
      write('files/b.manifest.json', 'two!');
      await scanAt(2000, 'files/..data');
      expect(await scanAt(2000 + SETTLE_MS)).to.deep.equal(['b.yaml']);
    });

    it('looks everywhere when the hint is about a link', async () => {
      write('a.yaml', 'two!');
      write('b.yaml', 'two!');
      await scanAt(2000, '..data');
      expect(await scanAt(2000 + SETTLE_MS)).to.deep.equal(['a.yaml', 'b.yaml']);
    });
  });

  describe('beside the hints', () => {
    /** A poll: without hints, where the folder tells of what happens to its plain files. */
    const pollAt = async (ms: number, telling = new Map([[folder, statSync(folder).dev]])) => {
      nowMs = ms;
      return (await scanner.scan(true, new Set(), telling)).changed.map(({ file }) => file);
    };
    const pollTwice = async (...telling: Map<string, number>[]) => {
      await pollAt(2000, ...telling);
      return pollAt(2000 + SETTLE_MS, ...telling);
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

    it('looks at no plain file of a folder that tells', async () => {
      write('plain.yaml', 'two!');
      expect(await pollTwice()).to.deep.equal([]);
      expect((await scanner.scan(false)).changed.map(({ file }) => file)).to.deep.equal([
        'plain.yaml',
      ]);
    });

    it('looks at all of a folder that does not, or whose files are mounted', async () => {
      write('plain.yaml', 'two!');
      expect(await pollTwice(new Map())).to.deep.equal(['plain.yaml']);
      write('plain.yaml', 'three');
      expect(await pollTwice(new Map([[folder, -1]]))).to.deep.equal(['plain.yaml']);
    });

    it('looks behind links, at what has a second name, and at what a descriptor names elsewhere', async () => {
      write('other/linked.yaml', 'two!');
      write('other/second.yaml', 'two!');
      write('other/named.json', 'one');
      expect(await pollTwice()).to.deep.equal(['link.yaml', 'named.yaml', 'second-name.yaml']);
    });

    it('finds what comes and goes', async () => {
      write('new.yaml', 'one');
      rmSync(join(folder, 'plain.yaml'));
      expect(await pollTwice()).to.deep.equal(['new.yaml']);
      nowMs = 2300;
      expect((await scanner.scan(true, new Set(), new Map())).removed).to.deep.equal([
        'plain.yaml',
      ]);
    });

    it('finds what has become something else and kept its name', async () => {
      rmSync(join(folder, 'plain.yaml'));
      mkdirSync(join(folder, 'plain.yaml'));
      await pollAt(2000, new Map());
      nowMs = 2300;
      const gone = await scanner.scan(true, new Set(), new Map());
      expect(gone.removed).to.deep.equal(['plain.yaml']);
      expect(gone.ignored).to.deep.include({ file: 'plain.yaml', reason: 'is a sub-folder' });
      rmSync(join(folder, 'plain.yaml'), { recursive: true });
      write('plain.yaml', 'two!');
      await pollAt(3000);
      expect(await pollAt(3000 + SETTLE_MS)).to.deep.equal(['plain.yaml']);
    });
  });
});
