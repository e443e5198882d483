import { type AdapterHarness, deadlineAfter } from '../adapter-harness.js';
import type { AdapterClause } from '../clause.js';
import { countHandles } from '../wait.js';
import { needs } from './needs.js';

export const CLOSING: readonly AdapterClause[] = [
  {
    id: 'close.sockets',
    title: 'has no connection open after the scope was closed',
    skip: needs('connections'),
    run: async (bench) => {
      const before = bench.reference.connections?.() ?? 0;
      const opened = await bench.open();
      await Promise.all(['/echo/1', '/echo/2', '/slow/5'].map((target) => opened.read(target)));
      const late = opened.invoke({ target: '/hang' }, { signal: deadlineAfter(20) });
      await bench.failureOf('a call with a deadline', late);
      await bench.patience.settles('the close of the scope', opened.close());
      await bench.patience.eventually(
        'that the provider has no connection more than before',
        () => (bench.reference.connections?.() ?? 0) <= before,
      );
    },
  },
  {
    id: 'close.handles',
    title: 'keeps no timer, socket or other handle after the scope was closed',
    run: async (bench) => {
      const before = countHandles();
      const opened = await bench.open();
      await opened.read('/echo/1');
      await bench.patience.settles('the close of the scope', opened.close());
      await expectHandles(bench, before);
    },
  },
  {
    id: 'close.during-invoke',
    title: 'ends a call that is in flight when the scope is closed',
    run: async (bench) => {
      const opened = await bench.open();
      const call = opened.invoke({ target: '/hang?marker=open' });
      call.catch(() => {});
      await bench.patience.eventually(
        'the arrival of the call',
        async () => (await opened.read<number>('/seen/open')) === 1,
      );
      await bench.patience.settles('the close of the scope', opened.close());
      await bench.failureOf('a call in flight at the close', call, 'unavailable', 'cancelled');
    },
  },
];

export async function expectHandles(bench: AdapterHarness, atMost: number): Promise<void> {
  const what = `that no more than ${atMost} handles are active`;
  await bench.patience.eventually(what, () => countHandles() <= atMost);
}
