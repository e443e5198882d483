import assert from 'node:assert/strict';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { AdapterHarness } from '../adapter-harness.js';
import type { AdapterClause } from '../clause.js';
import { countHandles } from '../wait.js';
import { expectHandles } from './closing.js';

/** One cycle in ten makes a call: most leaks need none. */
const CALL_EVERY = 10;
/** Caches and compiled code stop growing within the first tenth. */
const WARM_UP_SHARE = 0.1;
/** The growth per cycle that is not yet a leak, as garbage collection is not exact. */
const MAX_BYTES_A_CYCLE = 2_048;
/** The noise of a heap, regardless of the number of cycles. */
const MIN_BYTES = 1_048_576;

export const LIFETIME: readonly AdapterClause[] = [
  {
    id: 'lifetime.handles',
    title: 'keeps no handle and no connection after many open and close cycles',
    run: async (harness) => {
      const before = countHandles();
      await cycle(harness, harness.cycles);
      await expectHandles(harness, before);
      await harness.wait.eventually(
        'the close of all connections',
        () => (harness.reference.connections?.() ?? 0) === 0,
      );
    },
  },
  {
    id: 'lifetime.memory',
    title: 'keeps no memory after many open and close cycles',
    run: async (harness) => {
      const warmUp = Math.ceil(harness.cycles * WARM_UP_SHARE);
      await cycle(harness, warmUp);
      const before = measureMemory();
      await cycle(harness, harness.cycles - warmUp);
      const grown = measureMemory() - before;
      const allowed = Math.max(MIN_BYTES, MAX_BYTES_A_CYCLE * harness.cycles);
      assert.ok(grown <= allowed, `memory grew by ${grown} bytes in ${harness.cycles} cycles`);
    },
  },
];

async function cycle(harness: AdapterHarness, times: number): Promise<void> {
  for (let life = 0; life < times; life += 1) {
    const opened = await harness.openOnce();
    if (life % CALL_EVERY === 0) {
      await harness.ready(opened);
      await opened.read('/echo/life');
    }
    await harness.wait.settles('close of the scope', opened.close());
  }
}

let collectGarbage: (() => void) | null = null;

/** Bytes of the heap and of external memory after garbage collection. */
function measureMemory(): number {
  if (collectGarbage === null) {
    setFlagsFromString('--expose-gc');
    collectGarbage = runInNewContext('gc') as () => void;
  }
  // Memory released by finalizers is collected in the second run.
  collectGarbage();
  collectGarbage();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}
