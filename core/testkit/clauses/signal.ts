import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { cancel, deadlineAfter } from '../adapter-harness.js';
import type { AdapterClause } from '../clause.js';
import { needs } from './needs.js';

/** Short, to keep the suite fast. A slower call arrives after the deadline. */
const DEADLINE_MS = 50;

export const SIGNAL: readonly AdapterClause[] = [
  {
    id: 'signal.deadline',
    title: 'fails as timeout when the deadline passes',
    run: async (harness) => {
      const opened = await harness.open();
      await opened.read('/echo/warm');
      const call = opened.invoke({ target: '/hang' }, { signal: deadlineAfter(DEADLINE_MS) });
      await harness.failureOf('a call whose deadline has passed', call, 'timeout');
    },
  },
  {
    id: 'signal.abort',
    title: 'fails as cancelled when the client disconnects',
    run: async (harness) => {
      const opened = await harness.open();
      const controller = new AbortController();
      const call = opened.invoke({ target: '/hang?marker=gone' }, { signal: controller.signal });
      call.catch(() => {});
      await harness.wait.eventually(
        'the arrival of the call',
        async () => (await opened.read<number>('/seen/gone')) === 1,
      );
      cancel(controller);
      await harness.failureOf('a cancelled call', call, 'cancelled');
    },
  },
  {
    id: 'signal.already-aborted',
    title: 'does not send a call that was cancelled before it started',
    run: async (harness) => {
      const opened = await harness.open();
      const controller = new AbortController();
      cancel(controller);
      const { signal } = controller;
      const call = opened.invoke({ target: '/echo/never?marker=never' }, { signal });
      await harness.failureOf('a call that was already cancelled', call, 'cancelled');
      assert.equal(await opened.read<number>('/seen/never'), 0, 'the provider must not be called');
    },
  },
  {
    id: 'signal.trickle',
    title: 'observes the deadline while a response trickles in',
    skip: needs('trickle'),
    run: async (harness) => {
      const opened = await harness.open();
      const signal = deadlineAfter(DEADLINE_MS * 4);
      const call = opened.invoke({ target: '/fault/trickle' }, { signal });
      await harness.failureOf('a response that trickles', call, 'timeout');
    },
  },
  {
    id: 'signal.no-listeners',
    title: 'leaves no listener on a signal that outlives its call',
    run: async (harness) => {
      const opened = await harness.open();
      const { signal } = new AbortController();
      for (const target of ['/echo/well', '/status/500', '/empty']) {
        await harness.wait.settles(`GET ${target}`, opened.invoke({ target }, { signal }));
      }
      // Polled, because an adapter may wait until its socket has closed.
      await harness.wait.eventually(
        'the removal of all listeners',
        () => getEventListeners(signal, 'abort').length === 0,
      );
    },
  },
];
