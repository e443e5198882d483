import assert from 'node:assert/strict';
import { setTimeout as pause } from 'node:timers/promises';
import { cancel, deadlineAfter } from '../adapter-harness.js';
import type { AdapterClause } from '../clause.js';
import type { Echo } from '../reference/behaviours.js';
import { collectUnhandledRejections } from '../unhandled-rejections.js';

const AT_ONCE = 20;
const LATE_MS = 60;
/** Several turns of the loop, so that what nobody handles has been raised. */
const SETTLE_MS = 20;

export const CALLS: readonly AdapterClause[] = [
  {
    id: 'calls.apart',
    title: `keeps ${AT_ONCE} calls at once apart, whatever the order of their answers`,
    run: async (bench) => {
      const opened = await bench.open();
      const targets = Array.from(
        { length: AT_ONCE },
        (_, index) => `/slow/${(AT_ONCE - index) * 2}?call=${index}`,
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
    title: 'sends a call once, also one that fails: repeating is up to the host',
    run: async (bench) => {
      const opened = await bench.open();
      const seen = (marker: string) => opened.read<number>(`/seen/${marker}`);
      await opened.read('/echo/once?marker=well');
      assert.equal(await seen('well'), 1);
      await opened.invoke({ target: '/status/503?marker=refused' });
      assert.equal(await seen('refused'), 1, 'a status is an answer, it must not be repeated');
      if (!bench.reference.faults?.includes('reset')) return;
      const call = opened.invoke({ target: '/fault/reset?marker=reset' });
      await bench.failureOf('a call that is reset', call);
      assert.equal(await seen('reset'), 1, 'a call that failed must not be repeated');
    },
  },
  {
    id: 'calls.late-answer',
    title: 'drops an answer that comes late: it is no answer to another call',
    run: async (bench) => {
      const opened = await bench.open();
      for (let round = 0; round < 5; round += 1) {
        const signal = deadlineAfter(LATE_MS / 3);
        const late = opened.invoke({ target: `/slow/${LATE_MS}?late=${round}` }, { signal });
        await bench.failureOf('a call whose answer is late', late, 'timeout');
        for (const delay of [0, LATE_MS]) {
          const target = `/slow/${delay}?next=${round}`;
          assert.equal((await opened.read<Echo>(target)).target, target);
        }
      }
    },
  },
  {
    id: 'calls.no-stray-rejection',
    title: 'leaves no rejection that nobody handles behind',
    run: async (bench) => {
      const stray = await collectUnhandledRejections(async () => {
        const opened = await bench.open();
        const controller = new AbortController();
        const gone = opened.invoke({ target: '/slow/40' }, { signal: controller.signal });
        gone.catch(() => {});
        await opened.read('/echo/well');
        cancel(controller);
        await bench.failureOf('a call whose caller has gone', gone);
        const signal = deadlineAfter(SETTLE_MS);
        await bench.failureOf('a late call', opened.invoke({ target: '/slow/40' }, { signal }));
        await opened.read('/slow/60');
        await opened.close();
        await pause(SETTLE_MS);
      });
      const [first] = stray;
      assert.equal(
        stray.length,
        0,
        `${stray.length} rejections were not handled: ${String(first)}`,
      );
    },
  },
];
