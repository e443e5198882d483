import { expect } from 'chai';
import { waitUntil } from '../../support/http/wait-until.js';
import type { ProbeFigures } from '../../support/reload/host-probe.js';
import {
  describeVersion,
  MODULES_AT_ONCE,
  moduleName,
  reloadAll,
} from '../../support/reload/many-reloads.js';
import { createProbe, type Probe } from '../../support/reload/probed-process.js';
import { type ReloadProcess, startReloadProcess } from '../../support/reload/reload-host.js';

const ROUNDS = 4;
/** Far below the size of 200 versions (20 KiB each), far above normal heap growth. */
const HEAP_TOLERANCE_BYTES = 1024 * 1024;

describe('repeated reloads', () => {
  let host: ReloadProcess;
  let probe: Probe;

  before(async () => {
    probe = createProbe();
    const describeAll = (url: string) =>
      Object.fromEntries(
        Array.from({ length: MODULES_AT_ONCE }, (_, index) => moduleName(index)).map((name) => [
          `${name}.json`,
          describeVersion(name, url, 0),
        ]),
      );
    host = await startReloadProcess(({ url }) => describeAll(url), [], probe.env);
  });

  after(async () => {
    await host?.close();
    probe?.remove();
  });

  it('keep no socket, timer, file or memory of closed versions', async () => {
    let version = 0;
    const reload = async () => {
      version += 1;
      host.provider.reset();
      await reloadAll(host, MODULES_AT_ONCE, version);
    };
    // Warm-up: compiled code, caches and pools are not leaks.
    await reload();
    await reload();
    const before = await probe.read(host.running.pid);
    for (let round = 0; round < ROUNDS; round += 1) await reload();
    let after = before;
    const isFlat = async () => {
      after = await probe.read(host.running.pid);
      return listGrowth(before, after).length === 0;
    };
    await waitUntil('nothing has grown', isFlat).catch(() => {});
    expect(listGrowth(before, after)).to.deep.equal([]);
  });
});

/** The resources that have grown, with some tolerance for the test's own connections. */
function listGrowth(before: ProbeFigures, after: ProbeFigures): string[] {
  const slack = MODULES_AT_ONCE / 5;
  const grown = Object.entries(after.resources).filter(
    ([name, count]) => count > (before.resources[name] ?? 0) + slack,
  );
  const lines = grown.map(([name, count]) => `${name}: ${before.resources[name] ?? 0} to ${count}`);
  if (after.descriptors > before.descriptors + slack) {
    lines.push(`descriptors: ${before.descriptors} to ${after.descriptors}`);
  }
  const heap = after.heapBytes - before.heapBytes;
  if (heap > HEAP_TOLERANCE_BYTES) lines.push(`heap: ${heap} bytes more`);
  return lines;
}
