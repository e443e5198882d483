import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'chai';
import { Watcher } from '../../core/watch/watcher.js';
import { waitUntil } from '../support/http/wait-until.js';
import { createFolder } from '../support/temporary-folder.js';

/** Long enough for a test to end before a poll. */
const NO_POLL_MS = 60_000;

describe('watcher', () => {
  let folder: string;
  let watcher: Watcher;
  /** Whether each check was a poll. */
  let checks: boolean[];
  let errors: unknown[];
  let onCheck: (endSearch: () => void) => number | null | Promise<number | null>;
  const start = async (pollMs?: number, names?: ReadonlySet<string>) => {
    watcher = new Watcher({
      check: async (isPoll, endSearch) => {
        checks.push(isPoll);
        return onCheck(endSearch);
      },
      onError: (error) => errors.push(error),
      names,
      pollMs,
    });
    watcher.follow([folder]);
    watcher.start();
    await waitUntil('the first check', () => checks.length > 0);
  };
  const waitForCheck = async (subject: string) => {
    const before = checks.length;
    await waitUntil(subject, () => checks.length > before);
  };

  beforeEach(() => {
    folder = createFolder({ 'a.yaml': 'one' });
    checks = [];
    errors = [];
    onCheck = () => null;
  });

  afterEach(() => watcher.close());
  it('polls at first and at the interval', async () => {
    await start();
    await waitForCheck('a poll');
    expect(checks).to.deep.equal([true, true]);
  });

  it('checks after an event, without a poll', async () => {
    await start(NO_POLL_MS);
    writeFileSync(join(folder, 'b.yaml'), 'one');
    await waitUntil('a check of the file', () => checks.length > 1);
    expect(checks[1]).to.equal(false);
  });

  it('checks after no write to a file that does not count', async () => {
    await start(NO_POLL_MS, new Set(['b.yaml']));
    let others = 0;
    const other = new Watcher({
      check: async () => {
        others += 1;
        return null;
      },
      onError: (error) => errors.push(error),
      pollMs: NO_POLL_MS,
    });
    other.follow([folder]);
    other.start();
    await waitUntil('the first check of the other', () => others > 0);
    writeFileSync(join(folder, 'a.yaml'), 'two');
    await waitUntil('a check of the other', () => others > 1);
    await other.close();
    expect(checks).to.deep.equal([true]);
    writeFileSync(join(folder, 'b.yaml'), 'one');
    await waitForCheck('a check of the file');
    expect(errors).to.deep.equal([]);
  });

  it('polls again once a new folder is watched', async () => {
    const other = createFolder();
    onCheck = () => {
      watcher.follow([folder, other]);
      return null;
    };
    await start(NO_POLL_MS);
    await waitUntil('a second check', () => checks.length > 1);
    expect(checks).to.deep.equal([true, true]);
    writeFileSync(join(other, 'named.json'), '{}');
    await waitUntil('a third check', () => checks.length > 2);
    expect(checks[2]).to.equal(false);
  });

  it('polls when the folder itself is removed or replaced', async () => {
    await start(NO_POLL_MS);
    mkdirSync(`${folder}.new`);
    rmSync(folder, { recursive: true });
    await waitUntil('a poll', () => checks.slice(1).includes(true));
    renameSync(`${folder}.new`, folder);
  });

  it('checks again after the time that a check has returned', async () => {
    let left = 3;
    onCheck = () => (left-- > 0 ? 20 : null);
    await start(NO_POLL_MS);
    await waitUntil('four checks', () => checks.length === 4);
  });

  it('pauses for the time of the search, and not for that of the use', async () => {
    const USE_MS = 300;
    const pauses: number[] = [];
    let usedAt = Number.NaN;
    onCheck = async (endSearch) => {
      pauses.push(performance.now() - usedAt);
      endSearch();
      await pause(USE_MS);
      usedAt = performance.now();
      return checks.length > 5 ? null : 20;
    };
    await start(NO_POLL_MS);
    await waitUntil('six checks', () => checks.length > 5);
    // A pause for the use would last a second. The least, since others use the machine as well.
    expect(Math.min(...pauses.slice(1))).to.be.below(900);
  });

  it('checks during events without end', async () => {
    await start(NO_POLL_MS);
    const events = setInterval(() => writeFileSync(join(folder, 'a.yaml'), 'one'), 5);
    try {
      for (const subject of ['one check', 'another check']) await waitForCheck(subject);
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
    const before = checks.length;
    watcher.pollSoon();
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
    await waitUntil('a check of another watcher', () => marks > 0);
    await marker.close();
    expect(checks.length).to.equal(before);
  });
});
