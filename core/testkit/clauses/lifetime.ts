import assert from 'node:assert/strict';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { AdapterHarness } from '../adapter-harness.js';
import type { AdapterClause } from '../clause.js';
import type { Echo } from '../reference/behaviors.js';
import { countHandles } from '../wait.js';
import { expectHandles } from './closing.js';
import { needs } from './needs.js';

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

export const OPENING: readonly AdapterClause[] = [
  {
    id: 'open.while-down',
    title: 'opens while the provider is down, and calls it once it is up',
    skip: needs('down'),
    run: async (harness) => {
      await harness.reference.down?.();
      const opened = await harness.openUnready();
      await harness.reference.up?.();
      await harness.wait.eventually('a call after the provider came up', () =>
        opened.invoke({ target: '/echo/up' }).then(
          ({ status }) => status === 200,
          () => false,
        ),
      );
    },
  },
  {
    id: 'open.routes',
    title: 'takes its routes again while it is open, and calls them after that',
    run: async (harness) => {
      const opened = await harness.open();
      for (const routes of [[], opened.routes.all]) opened.provider.useRoutes?.(routes);
      const { target } = await opened.read<Echo>('/echo/routes');
      assert.equal(target, '/echo/routes');
    },
  },
  {
    id: 'open.independent',
    title: 'shares nothing between two opened providers: closing one leaves the other usable',
    run: async (harness) => {
      const [first, other] = [await harness.open(), await harness.open()];
      await first.read('/echo/one');
      await other.read('/echo/other');
      await first.close();
      const { target } = await other.read<Echo>('/echo/other?again=1');
      assert.equal(target, '/echo/other?again=1');
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
