import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { cancel, deadlineAfter } from '../adapter-harness.js';
import type { AdapterClause } from '../clause.js';
import { needs } from './needs.js';

/** Short, so that the suite is; whatever is slower than that only arrives after the deadline. */
const DEADLINE_MS = 50;

export const SIGNAL: readonly AdapterClause[] = [
  {
    id: 'signal.deadline',
    title: 'fails as timeout when the deadline passes',
    run: async (bench) => {
      const opened = await bench.open();
      await opened.read('/echo/warm');
      const call = opened.invoke({ target: '/hang' }, { signal: deadlineAfter(DEADLINE_MS) });
      await bench.failureOf('a call whose deadline has passed', call, 'timeout');
    },
  },
  {
    id: 'signal.abort',
    title: 'fails as cancelled when the caller has gone',
    run: async (bench) => {
      const opened = await bench.open();
      const controller = new AbortController();
      const call = opened.invoke({ target: '/hang?marker=gone' }, { signal: controller.signal });
      call.catch(() => {});
      await bench.patience.eventually(
        'the arrival of the call',
        async () => (await opened.read<number>('/seen/gone')) === 1,
      );
      cancel(controller);
      await bench.failureOf('a call whose caller has gone', call, 'cancelled');
    },
  },
  {
    id: 'signal.already-aborted',
    title: 'never sends a call that was taken back before it began',
    run: async (bench) => {
      const opened = await bench.open();
      const controller = new AbortController();
      cancel(controller);
      const { signal } = controller;
      const call = opened.invoke({ target: '/echo/never?marker=never' }, { signal });
      await bench.failureOf('a call that was taken back', call, 'cancelled');
      assert.equal(await opened.read<number>('/seen/never'), 0, 'the provider must not be asked');
    },
  },
  {
    id: 'signal.trickle',
    title: 'obeys the deadline while an answer trickles in',
    skip: needs('trickle'),
    run: async (bench) => {
      const opened = await bench.open();
      const signal = deadlineAfter(DEADLINE_MS * 4);
      const call = opened.invoke({ target: '/fault/trickle' }, { signal });
      await bench.failureOf('an answer that trickles', call, 'timeout');
    },
  },
  {
    id: 'signal.no-listeners',
    title: 'leaves no listener at a signal that outlives its call',
    run: async (bench) => {
      const opened = await bench.open();
      const { signal } = new AbortController();
      for (const target of ['/echo/well', '/status/500', '/empty']) {
        await bench.patience.settles(`GET ${target}`, opened.invoke({ target }, { signal }));
      }
      // Not at once: an adapter may wait until its socket has closed.
      await bench.patience.eventually(
        'that no listener is left after 3 calls',
        () => getEventListeners(signal, 'abort').length === 0,
      );
    },
  },
];
