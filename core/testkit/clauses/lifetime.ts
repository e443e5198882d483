import assert from 'node:assert/strict';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { AdapterHarness } from '../adapter-harness.js';
import type { AdapterClause } from '../clause.js';
import { countHandles } from '../wait.js';
import { expectHandles } from './closing.js';

/** One cycle in ten makes a call: most of what leaks does so without one. */
const CALL_EVERY = 10;
/** Caches and compiled code come to rest within the first tenth. */
const WARM_UP_SHARE = 0.1;
/** What an open may leave behind before it counts as a leak: garbage collectors are not exact. */
const MAX_BYTES_A_CYCLE = 2_048;
/** Noise of a heap, however few the cycles. */
const LEAST_BYTES = 1_048_576;

export const LIFETIME: readonly AdapterClause[] = [
  {
    id: 'lifetime.handles',
    title: 'keeps no handle and no connection after many openings and closings',
    run: async (bench) => {
      const before = countHandles();
      await cycle(bench, bench.cycles);
      await expectHandles(bench, before);
      await bench.patience.eventually(
        'that no connection is open',
        () => (bench.reference.connections?.() ?? 0) === 0,
      );
    },
  },
  {
    id: 'lifetime.memory',
    title: 'keeps no memory after many openings and closings',
    run: async (bench) => {
      const warmUp = Math.ceil(bench.cycles * WARM_UP_SHARE);
      await cycle(bench, warmUp);
      const before = measureMemory();
      await cycle(bench, bench.cycles - warmUp);
      const grown = measureMemory() - before;
      const allowed = Math.max(LEAST_BYTES, MAX_BYTES_A_CYCLE * bench.cycles);
      assert.ok(grown <= allowed, `memory grew by ${grown} bytes in ${bench.cycles} cycles`);
    },
  },
];

async function cycle(bench: AdapterHarness, times: number): Promise<void> {
  for (let life = 0; life < times; life += 1) {
    const opened = await bench.openOnce();
    if (life % CALL_EVERY === 0) {
      await bench.ready(opened);
      await opened.read('/echo/life');
    }
    await bench.patience.settles('the close of the scope', opened.close());
  }
}

let collectGarbage: (() => void) | null = null;

/** Bytes of the heap, and of what it holds outside, after a collection. */
function measureMemory(): number {
  if (collectGarbage === null) {
    setFlagsFromString('--expose-gc');
    collectGarbage = runInNewContext('gc') as () => void;
  }
  // What a finaliser frees is only gone at the next one.
  collectGarbage();
  collectGarbage();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}
