import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { Watcher } from '../../core/watch/watcher.js';
import { createFolder, removeFoldersAfterEach } from '../support/documents/temporary-folder.js';
import { waitUntil } from '../support/http/wait-until.js';

/** Long enough for a test to end before a poll. */
const NO_POLL_MS = 60_000;

describe('watcher', () => {
  let folder: string;
  let watcher: Watcher;
  let seen: (readonly string[] | null)[];
  let errors: unknown[];
  let onCheck: () => number | null;
  const isPoll = (hints: readonly string[] | null) => hints === null;
  const start = async (pollMs?: number) => {
    watcher = new Watcher({
      check: async (hints) => {
        seen.push(hints && [...hints]);
        return onCheck();
      },
      onError: (error) => errors.push(error),
      pollMs,
    });
    watcher.follow([folder]);
    watcher.start();
    await waitUntil('the first check', () => seen.length > 0);
  };
  const waitForCheck = async (what: string) => {
    const before = seen.length;
    await waitUntil(what, () => seen.length > before, 5000);
  };

  beforeEach(() => {
    folder = createFolder({ 'a.yaml': 'one' });
    seen = [];
    errors = [];
    onCheck = () => null;
  });

  afterEach(() => watcher.close());
  removeFoldersAfterEach();

  it('checks everything after more than 10,000 changed paths', async () => {
    await start(NO_POLL_MS);
    for (let count = 0; count < 10_000; count += 1) watcher.hint(join(folder, `${count}.yaml`));
    await waitForCheck('the paths');
    expect(seen.at(-1)).to.have.length(10_000);
    for (let count = 0; count < 10_001; count += 1) watcher.hint(join(folder, `${count}.yaml`));
    await waitForCheck('everything');
    expect(seen.at(-1)).to.equal(null);
  });

  it('checks everything at first and at every poll', async () => {
    await start();
    await waitForCheck('a poll');
    expect(seen.map(isPoll)).to.deep.equal([true, true]);
  });

  it('checks only the path of an event', async () => {
    await start(NO_POLL_MS);
    writeFileSync(join(folder, 'b.yaml'), 'one');
    await waitUntil('a check of the file', () => seen.length > 1, 5000);
    expect(seen[1]).to.deep.equal([join(folder, 'b.yaml')]);
  });

  it('checks everything again once a new folder is watched', async () => {
    const other = createFolder();
    onCheck = () => {
      watcher.follow([folder, other]);
      return null;
    };
    await start(NO_POLL_MS);
    await waitUntil('a second check', () => seen.length > 1, 5000);
    expect(seen.map(isPoll)).to.deep.equal([true, true]);
    writeFileSync(join(other, 'named.json'), '{}');
    await waitUntil('a third check', () => seen.length > 2, 5000);
    expect(seen[2]).to.deep.equal([join(other, 'named.json')]);
  });

  it('checks everything when the folder itself is removed or replaced', async () => {
    await start(NO_POLL_MS);
    mkdirSync(`${folder}.new`);
    rmSync(folder, { recursive: true });
    await waitUntil('a check of everything', () => seen.slice(1).some(isPoll), 5000);
    renameSync(`${folder}.new`, folder);
  });

  it('checks again after the time that a check has returned', async () => {
    let left = 3;
    onCheck = () => (left-- > 0 ? 20 : null);
    await start(NO_POLL_MS);
    await waitUntil('four checks', () => seen.length === 4, 5000);
  });

  it('checks during events without end', async () => {
    await start(NO_POLL_MS);
    const events = setInterval(() => watcher.hint(join(folder, 'a.yaml')), 5);
    try {
      for (const what of ['one check', 'another check']) await waitForCheck(what);
    } finally {
      clearInterval(events);
    }
  });

  it('continues after a check that throws', async () => {
    let failures = 1;
    onCheck = () => {
      if (failures-- > 0) throw new Error('out of order');
      return null;
    };
    await start(100);
    await waitForCheck('another check');
    expect(errors).to.have.lengthOf(1);
  });

  it('does nothing after it is closed', async () => {
    await start(NO_POLL_MS);
    await watcher.close();
    const before = seen.length;
    watcher.hint();
    writeFileSync(join(folder, 'b.yaml'), 'one');
    const marker = new Watcher({
      check: async () => {
        marks += 1;
        return null;
      },
      onError: () => {},
    });
    let marks = 0;
    marker.follow([folder]);
    marker.start();
    await waitUntil('a check of another watcher', () => marks > 0, 5000);
    await marker.close();
    expect(seen.length).to.equal(before);
  });
});
