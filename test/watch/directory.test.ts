import { spawnSync } from 'node:child_process';
import { chmodSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import {
  type DirectoryFile,
  readDirectory,
  UnreadableDirectory,
} from '../../core/watch/directory.js';
import { createFolder } from '../support/temporary-folder.js';

const YAML = Buffer.from('.yaml');
const FOUR_MIB = 4 * 1024 * 1024;

async function rejectionOf(work: Promise<unknown>): Promise<unknown> {
  return work.then(
    () => expect.fail('nothing was refused'),
    (error: unknown) => error,
  );
}

function ruleOf(entry: DirectoryFile | undefined): string | null {
  return entry !== undefined && 'diagnostic' in entry ? entry.diagnostic.rule : null;
}

describe('readDirectory', () => {
  it('reads descriptors, sorted by name', async () => {
    const folder = createFolder({ 'b.yml': 'b', 'a.yaml': 'a', 'B.json': '{}', 'a-1.yaml': 'ä' });
    const { files, ignored } = await readDirectory(folder);
    expect(files).to.deep.equal([
      { file: 'B.json', path: join(folder, 'B.json'), text: '{}' },
      { file: 'a-1.yaml', path: join(folder, 'a-1.yaml'), text: 'ä' },
      { file: 'a.yaml', path: join(folder, 'a.yaml'), text: 'a' },
      { file: 'b.yml', path: join(folder, 'b.yml'), text: 'b' },
    ]);
    expect(ignored).to.deep.equal([]);
  });

  it('ignores descriptors beyond a limit, by name', async () => {
    const folder = createFolder({ 'c.yaml': 'c', 'a.yaml': 'a', 'b.txt': '', 'b.yaml': 'b' });
    const { files, ignored } = await readDirectory(folder, 2);
    expect(files.map(({ file }) => file)).to.deep.equal(['a.yaml', 'b.yaml']);
    expect(ignored.map(({ file, reason }) => [file, reason])).to.deep.equal([
      ['b.txt', 'does not end in .yaml, .yml or .json'],
      ['c.yaml', 'is beyond the limit of 2 descriptors'],
    ]);
  });

  it('lists at most 1,000 ignored files', async () => {
    const names = Array.from({ length: 1001 }, (_, index) => [`${index}.txt`, '']);
    const folder = createFolder({ ...Object.fromEntries(names), 'z.yaml': 'z' });
    const { files, ignored } = await readDirectory(folder);
    expect(files.map(({ file }) => file)).to.deep.equal(['z.yaml']);
    expect(ignored).to.have.length(1000);
  });

  it('ignores everything else, with the reason', async () => {
    const folder = createFolder({
      '.hidden.yaml': '',
      'a.yaml~': '',
      'a.yaml.tmp': '',
      'a.yaml.bak': '',
      'a.yaml.swp': '',
      'a.yaml.disabled': '',
      'crm.manifest.json': '{}',
      'crm.manifest.yaml': '',
      'crm.manifest.yml': '',
      'README.md': '',
      'crm.mjs': '',
      'sub.yaml/a.yaml': '',
    });
    const { files, ignored } = await readDirectory(folder);
    expect(files).to.deep.equal([]);
    expect(Object.fromEntries(ignored.map(({ file, reason }) => [file, reason]))).to.deep.equal({
      '.hidden.yaml': 'starts with a dot',
      'README.md': 'does not end in .yaml, .yml or .json',
      'a.yaml.bak': 'ends in .bak',
      'a.yaml.disabled': 'ends in .disabled',
      'a.yaml.swp': 'ends in .swp',
      'a.yaml.tmp': 'ends in .tmp',
      'a.yaml~': 'ends in ~',
      'crm.manifest.json': 'is a manifest',
      'crm.manifest.yaml': 'is a manifest',
      'crm.manifest.yml': 'is a manifest',
      'crm.mjs': 'does not end in .yaml, .yml or .json',
      'sub.yaml': 'is a sub-folder',
    });
  });

  it('ignores names that the host cannot open, or that leave no room for an ending', async () => {
    const folder = createFolder({
      [`${'a'.repeat(235)}.yaml`]: '',
      [`${'ä'.repeat(118)}.yaml`]: '',
    });
    writeFileSync(Buffer.concat([Buffer.from(join(folder, 'b')), Buffer.from([0xff]), YAML]), '');
    const { files, ignored } = await readDirectory(folder);
    expect(files.map(({ file }) => file)).to.deep.equal([`${'a'.repeat(235)}.yaml`]);
    expect(ignored).to.deep.equal([
      { file: 'b\ufffd.yaml', reason: 'has a name that is not valid UTF-8' },
      { file: `${'ä'.repeat(118)}.yaml`, reason: 'has a name longer than 240 bytes' },
    ]);
  });

  it('follows links like those of a ConfigMap', async () => {
    const folder = createFolder({ '..2026/crm.yaml': 'module: crm' });
    symlinkSync('..2026', join(folder, '..data'));
    symlinkSync('..data/crm.yaml', join(folder, 'crm.yaml'));
    symlinkSync('..data', join(folder, 'more.yaml'));
    const { files, ignored } = await readDirectory(folder);
    expect(files).to.deep.equal([
      { file: 'crm.yaml', path: join(folder, 'crm.yaml'), text: 'module: crm' },
    ]);
    expect(ignored.map(({ file }) => file)).to.deep.equal(['..2026', '..data', 'more.yaml']);
  });

  it('reports a link that leads nowhere, and one that leads to itself', async () => {
    const folder = createFolder({ 'good.yaml': '' });
    symlinkSync('nowhere', join(folder, 'a.yaml'));
    symlinkSync('b.yaml', join(folder, 'b.yaml'));
    const { files } = await readDirectory(folder);
    expect(files.map(ruleOf)).to.deep.equal(['file-missing', 'file-unreadable', null]);
    expect(files[0]).to.deep.include({
      diagnostic: {
        rule: 'file-missing',
        severity: 'error',
        message: 'the file is a link that leads nowhere, or has just been removed',
        hint: null,
        path: [],
        file: 'a.yaml',
        line: null,
        column: null,
      },
    });
  });

  it('accepts at most 4 MiB', async () => {
    const folder = createFolder({
      'a.yaml': Buffer.alloc(FOUR_MIB, 'a'),
      'b.yaml': Buffer.alloc(FOUR_MIB + 1, 'a'),
    });
    const { files } = await readDirectory(folder);
    expect(files.map(ruleOf)).to.deep.equal([null, 'file-too-large']);
  });

  it('reports what is not UTF-8, and keeps a byte-order mark for the parser', async () => {
    const folder = createFolder({
      'a.yaml': Buffer.from([0x61, 0xff]),
      'b.yaml': Buffer.from([0xef, 0xbb, 0xbf, 0x61]),
    });
    const { files } = await readDirectory(folder);
    expect(ruleOf(files[0])).to.equal('invalid-utf8');
    expect(files[1]).to.include({ text: '\uFEFFa' });
  });

  it('does not wait for a writer of a pipe', async function () {
    if (process.platform === 'win32') this.skip();
    const folder = createFolder();
    spawnSync('mkfifo', [join(folder, 'pipe.yaml')]);
    const { files, ignored } = await readDirectory(folder);
    expect(files).to.deep.equal([]);
    expect(ignored).to.deep.equal([{ file: 'pipe.yaml', reason: 'is not a regular file' }]);
  });

  it('reports a file without read permission', async function () {
    // root may read everything.
    if (process.getuid?.() === 0) this.skip();
    const folder = createFolder({ 'a.yaml': '' });
    chmodSync(join(folder, 'a.yaml'), 0);
    const { files } = await readDirectory(folder);
    expect(files.map(ruleOf)).to.deep.equal(['file-unreadable']);
  });

  it('distinguishes a missing folder from an empty one', async () => {
    const folder = createFolder({ file: '' });
    expect(await readDirectory(createFolder())).to.deep.equal({ files: [], ignored: [] });
    for (const [name, reason] of [
      ['nowhere', 'does not exist'],
      ['file', 'is not a folder'],
    ] as const) {
      const path = join(folder, name);
      const error = await rejectionOf(readDirectory(path));
      expect(error).to.be.instanceOf(UnreadableDirectory);
      expect(error).to.have.property('message', `the modules folder '${path}' ${reason}`);
    }
  });
});
