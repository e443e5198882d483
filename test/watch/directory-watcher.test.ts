import { statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { DirectoryWatcher, type Look } from '../../core/watch/directory-watcher.js';
import { createFolder, removeFoldersAfterEach } from '../support/documents/temporary-folder.js';
import { waitUntil } from '../support/http/wait-until.js';

interface SeenLook {
  readonly hints: readonly string[] | null;
  readonly telling: readonly (readonly [string, number])[] | null;
}

describe('DirectoryWatcher', () => {
  let folder: string;
  let watcher: DirectoryWatcher;
  let seen: SeenLook[];
  const look: Look = async (hints, telling) => {
    seen.push({ hints: hints && [...hints], telling: telling && [...telling] });
    return null;
  };
  const isEverywhere = ({ hints }: SeenLook) => hints === null;
  const isPoll = ({ hints, telling }: SeenLook) => hints?.length === 0 && telling !== null;
  const start = (everywhereMs?: number) => {
    watcher = new DirectoryWatcher(folder, look, everywhereMs);
    watcher.start();
    return waitUntil('the first look', () => seen.length > 0);
  };

  beforeEach(() => {
    folder = createFolder({ 'a.yaml': 'one' });
    seen = [];
  });

  afterEach(() => watcher.close());
  removeFoldersAfterEach();

  it('looks everywhere first, and then, every two seconds, where no event may tell', async () => {
    await start();
    await waitUntil('a poll', () => seen.length > 1, 5000);
    const [first, second] = seen as [SeenLook, SeenLook];
    expect([isEverywhere(first), isPoll(second)]).to.deep.equal([true, true]);
    if (process.platform === 'linux') {
      expect(second.telling).to.deep.equal([[folder, statSync(folder).dev]]);
    }
  });

  it('looks everywhere from time to time, whatever events tell', async () => {
    await start(2500);
    await waitUntil('another look everywhere', () => seen.filter(isEverywhere).length > 1, 10_000);
    expect(seen.filter(isPoll)).to.have.lengthOf(1);
  });

  it('looks at what an event is about, and at nothing else', async () => {
    await start();
    writeFileSync(join(folder, 'b.yaml'), 'one');
    await waitUntil('a look at the file', () => seen.length > 1, 1900);
    expect(seen[1]).to.deep.equal({ hints: [join(folder, 'b.yaml')], telling: null });
  });

  it('looks everywhere at once when a look has found another folder to be watched', async () => {
    const named = join(createFolder({ 'named.json': '{}' }), 'named.json');
    watcher = new DirectoryWatcher(folder, (...where) => {
      if (seen.length === 0) watcher.follow([named]);
      return look(...where);
    });
    watcher.start();
    await waitUntil('a second look', () => seen.length > 1, 1900);
    expect(seen.map(isEverywhere)).to.deep.equal([true, true]);
  });
});
