import { mkdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect } from 'chai';
import { createFileDiagnostic, InvalidFile } from '../../core/document/diagnostic.js';
import {
  openReloadedFile,
  openReloadedFiles,
  type ReloadedFile,
} from '../../core/watch/reloaded-file.js';
import { createRecordedLog, type RecordedLine } from '../support/auth/recorded-log.js';
import { waitUntil } from '../support/http/wait-until.js';
import { createFolder } from '../support/temporary-folder.js';

const NEVER_MS = 3_600_000;

describe('reloaded file', () => {
  let file: string;
  let lines: RecordedLine[];
  let opened: ReloadedFile<string> | null;
  const logged = (pattern: RegExp) => lines.filter(({ message }) => pattern.test(message)).length;
  const parse = (name: string, text: string) => {
    if (text.startsWith('good')) return text;
    throw new InvalidFile([createFileDiagnostic(name, 'test', 'must be good')]);
  };
  const open = async (pollMs = 50) => {
    const recorded = createRecordedLog();
    lines = recorded.lines;
    const describe = () => ({});
    opened = await openReloadedFile(file, {
      ...{ log: recorded.log, name: 'tokens file', parse, describe, pollMs },
    });
    return opened;
  };

  beforeEach(() => {
    file = join(createFolder({ file: 'good one' }), 'file');
    opened = null;
  });

  afterEach(() => opened?.close());
  it('uses a changed content once it has settled', async () => {
    const reloaded = await open();
    const changes: string[][] = [];
    reloaded.onChange = (current, previous) => changes.push([previous, current]);
    writeFileSync(file, 'good two');
    await waitUntil('the change', () => reloaded.current === 'good two');
    expect(changes).to.deep.equal([['good one', 'good two']]);
    await waitUntil('a log line', () => logged(/^tokens file reloaded$/) === 1);
    expect(reloaded.reloads).to.deep.equal({ success: 1, failure: 0 });
  });

  it('is parsed again when a file that it names changes', async () => {
    const named = join(dirname(file), 'secret');
    writeFileSync(named, 'first');
    writeFileSync(file, `good ${named}`);
    const { log } = createRecordedLog();
    const read = (name: string, text: string) => `${parse(name, text)} ${readFileSync(named)}`;
    const listFiles = (_name: string, text: string) => [text.slice('good '.length)];
    const describe = () => ({});
    const reloaded = await openReloadedFile(file, {
      ...{ log, name: 'issuers file', parse: read, listFiles, describe, pollMs: 50 },
    });
    opened = reloaded;
    expect(reloaded.current).to.equal(`good ${named} first`);
    writeFileSync(named, 'second');
    const hasSecond = () => reloaded.current === `good ${named} second`;
    await waitUntil('the change', hasSecond);
  });

  it('keeps the last good content, and logs an invalid one once', async () => {
    const reloaded = await open();
    writeFileSync(file, 'bad');
    await waitUntil('a log line', () => logged(/is invalid; keeping/) === 1);
    rmSync(file);
    await waitUntil('another log line', () => logged(/is invalid; keeping/) === 2);
    expect(reloaded.current).to.equal('good one');
    expect(reloaded.reloads).to.deep.equal({ success: 0, failure: 2 });
    writeFileSync(file, 'good one');
    await waitUntil('the old content', () => logged(/is valid again/) === 1);
    expect(reloaded.reloads).to.deep.equal({ success: 0, failure: 2 });
  });

  it('keeps the last good content of a file that never settles, with a warning', async () => {
    const reloaded = await open();
    const versions = new Set<string>();
    reloaded.onChange = (current) => versions.add(current);
    let writes = 0;
    const writer = setInterval(() => {
      writes += 1;
      writeFileSync(file, `good half ${writes}`);
    }, 20);
    try {
      const warned = () => logged(/^tokens file keeps changing; keeping the last good content$/);
      await waitUntil('a warning', () => warned() === 1);
      expect([...versions]).to.deep.equal([]);
      expect(reloaded.current).to.equal('good one');
    } finally {
      clearInterval(writer);
    }
    const last = `good half ${writes}`;
    await waitUntil('the last content', () => reloaded.current === last);
    expect([...versions]).to.deep.equal([last]);
  });

  it('follows a file that is replaced by a rename', async () => {
    const reloaded = await open();
    writeFileSync(`${file}.new`, 'good two');
    renameSync(`${file}.new`, file);
    await waitUntil('the change', () => reloaded.current === 'good two');
  });

  it('follows the target of a symbolic link without a poll, also another one', async () => {
    const targets = createFolder({ first: 'good one', second: 'good three' });
    rmSync(file);
    symlinkSync(join(targets, 'first'), file);
    const reloaded = await open(NEVER_MS);
    const settle = (text: string) => waitUntil(text, () => reloaded.current === text);
    // The poll of the start may find the first edit. Only an event explains the second one.
    writeFileSync(join(targets, 'first'), 'good first edit');
    await settle('good first edit');
    writeFileSync(join(targets, 'first'), 'good two');
    await settle('good two');
    symlinkSync(join(targets, 'second'), `${file}.new`);
    renameSync(`${file}.new`, file);
    await settle('good three');
    writeFileSync(join(targets, 'second'), 'good four');
    await settle('good four');
  });

  it('follows a file of a folder that Kubernetes replaces, without a poll', async () => {
    const folder = dirname(file);
    rmSync(file);
    const write = (version: string, text: string) => {
      mkdirSync(join(folder, version));
      writeFileSync(join(folder, version, 'file'), text);
      symlinkSync(version, join(folder, '..data_tmp'));
      renameSync(join(folder, '..data_tmp'), join(folder, '..data'));
    };
    write('..one', 'good one');
    symlinkSync('..data/file', file);
    const reloaded = await open(NEVER_MS);
    // The poll of the start may find the first change. Only an event explains the second one.
    write('..two', 'good two');
    rmSync(join(folder, '..one'), { recursive: true });
    await waitUntil('the change', () => reloaded.current === 'good two');
    write('..three', 'good three');
    rmSync(join(folder, '..two'), { recursive: true });
    await waitUntil('the next change', () => reloaded.current === 'good three');
  });

  it('reads several files as one content', async () => {
    const second = join(createFolder({ second: 'a' }), 'second');
    const { log } = createRecordedLog();
    const reloaded = await openReloadedFiles([file, second], {
      ...{ log, name: 'pair', describe: () => ({}), pollMs: 50 },
      parse: (contents) => contents.map(String).join('+'),
    });
    opened = reloaded;
    expect(reloaded.current).to.equal('good one+a');
    writeFileSync(second, 'b');
    await waitUntil('the change', () => reloaded.current === 'good one+b');
  });

  it('rejects a file that is invalid or missing when it is opened', async () => {
    for (const prepare of [() => writeFileSync(file, 'bad'), () => rmSync(file)]) {
      prepare();
      const error = await open().then(
        () => null,
        (reason: unknown) => reason,
      );
      expect(error).to.be.instanceOf(InvalidFile);
    }
  });
});
