import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { cancel, deadlineAfter } from '../adapter-harness.js';
import type { AdapterClause } from '../clause.js';
import type { Echo } from '../reference/behaviors.js';

const CONCURRENT_CALLS = 20;
const DEADLINE_MS = 20;
/** Several turns of the event loop, after which Node.js has reported unhandled rejections. */
const SETTLE_MS = 20;

export const CALLS: readonly AdapterClause[] = [
  {
    id: 'calls.apart',
    title: `keeps ${CONCURRENT_CALLS} concurrent calls apart, in any order of their responses`,
    run: async (harness) => {
      const opened = await harness.open();
      const targets = Array.from(
        { length: CONCURRENT_CALLS },
        (_, index) => `/slow/${(CONCURRENT_CALLS - index) * 2}?call=${index}`,
      );
      const echoes = await Promise.all(targets.map((target) => opened.read<Echo>(target)));
      assert.deepEqual(
        echoes.map(({ target }) => target),
        targets,
      );
    },
  },
  {
    id: 'calls.once',
    title: 'sends a call once, even if it fails: only the host retries',
    run: async (harness) => {
      const opened = await harness.open();
      const countSeen = (marker: string) => opened.read<number>(`/seen/${marker}`);
      await opened.read('/echo/once?marker=well');
      assert.equal(await countSeen('well'), 1);
      await opened.invoke({ target: '/status/503?marker=refused' });
      assert.equal(
        await countSeen('refused'),
        1,
        'a call with an error status must not be retried',
      );
      if (!harness.reference.faults?.includes('reset')) return;
      const call = opened.invoke({ target: '/fault/reset?marker=reset' });
      await harness.failureOf('a call that is reset', call);
      assert.equal(await countSeen('reset'), 1, 'a call that failed must not be retried');
    },
  },
  {
    id: 'calls.late-answer',
    title: 'drops a late response, which must not complete another call',
    run: async (harness) => {
      const opened = await harness.open();
      for (let round = 0; round < 5; round += 1) {
        const signal = deadlineAfter(DEADLINE_MS);
        const late = opened.invoke({ target: `/held/${round}` }, { signal });
        await harness.failureOf('a call with a late response', late, 'timeout');
        // The late response arrives after the first call, before the second has its own, and before
        // the third starts.
        for (const name of ['echo', 'release', 'echo']) {
          const target = `/${name}/${round}`;
          assert.equal((await opened.read<Echo>(target)).target, target);
        }
      }
    },
  },
  {
    id: 'calls.no-unhandled-rejection',
    title: 'leaves no rejection unhandled',
    run: async (harness) => {
      const rejections = await collectUnhandledRejections(async () => {
        const opened = await harness.open();
        // Another run may use the same provider, which remembers released names.
        const run = randomUUID();
        const controller = new AbortController();
        const { signal } = controller;
        const canceled = opened.invoke({ target: `/held/canceled-${run}` }, { signal });
        canceled.catch(() => {});
        await opened.read('/echo/well');
        cancel(controller);
        await harness.failureOf('a cancelled call', canceled);
        const late = opened.invoke(
          { target: `/held/late-${run}` },
          { signal: deadlineAfter(SETTLE_MS) },
        );
        await harness.failureOf('a late call', late);
        // The responses to the two calls above arrive before these.
        for (const name of ['canceled', 'late']) await opened.read(`/release/${name}-${run}`);
        await opened.read('/echo/well');
        await opened.close();
        await pause(SETTLE_MS);
      });
      const [first] = rejections;
      assert.equal(
        rejections.length,
        0,
        `${rejections.length} rejections were not handled: ${String(first)}`,
      );
    },
  },
];

/**
 * Collects unhandled rejections during `work`. Other listeners are removed meanwhile: a test runner
 * would end the run at the first rejection, and Node.js the process.
 */
async function collectUnhandledRejections(work: () => Promise<void>): Promise<unknown[]> {
  const rejections: unknown[] = [];
  const collect = (reason: unknown) => void rejections.push(reason);
  const others = process.rawListeners('unhandledRejection');
  process.removeAllListeners('unhandledRejection');
  process.on('unhandledRejection', collect);
  try {
    await work();
  } finally {
    process.off('unhandledRejection', collect);
    for (const listener of others) {
      process.on('unhandledRejection', listener as NodeJS.UnhandledRejectionListener);
    }
  }
  return rejections;
}
