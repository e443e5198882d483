import { type AdapterHarness, deadlineAfter } from '../adapter-harness.js';
import type { AdapterClause } from '../clause.js';
import { countHandles } from '../wait.js';
import { needs } from './needs.js';

export const CLOSING: readonly AdapterClause[] = [
  {
    id: 'close.sockets',
    title: 'closes all connections with its scope',
    skip: needs('connections'),
    run: async (harness) => {
      const before = harness.reference.connections?.() ?? 0;
      const opened = await harness.open();
      await Promise.all(['/echo/1', '/echo/2', '/slow/5'].map((target) => opened.read(target)));
      const late = opened.invoke({ target: '/hang' }, { signal: deadlineAfter(20) });
      await harness.failureOf('a call with a deadline', late);
      await harness.wait.settles('close of the scope', opened.close());
      await harness.wait.eventually(
        'the close of all connections',
        () => (harness.reference.connections?.() ?? 0) <= before,
      );
    },
  },
  {
    id: 'close.handles',
    title: 'keeps no timer, socket or other handle after its scope is closed',
    run: async (harness) => {
      const before = countHandles();
      const opened = await harness.open();
      await opened.read('/echo/1');
      await harness.wait.settles('close of the scope', opened.close());
      await expectHandles(harness, before);
    },
  },
  {
    id: 'close.during-invoke',
    title: 'fails a call in flight when its scope is closed',
    run: async (harness) => {
      const opened = await harness.open();
      const call = opened.invoke({ target: '/hang?marker=open' });
      call.catch(() => {});
      await harness.wait.eventually(
        'the arrival of the call',
        async () => (await opened.read<number>('/seen/open')) === 1,
      );
      await harness.wait.settles('close of the scope', opened.close());
      await harness.failureOf('a call in flight at the close', call, 'unavailable', 'cancelled');
    },
  },
];

export async function expectHandles(harness: AdapterHarness, atMost: number): Promise<void> {
  const expectation = `a return to ${atMost} active handles`;
  await harness.wait.eventually(expectation, () => countHandles() <= atMost);
}
