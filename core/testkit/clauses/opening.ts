import assert from 'node:assert/strict';
import type { AdapterClause } from '../clause.js';
import type { Echo } from '../reference/behaviours.js';
import { needs } from './needs.js';

export const OPENING: readonly AdapterClause[] = [
  {
    id: 'open.while-down',
    title: 'opens while the provider is down, and reaches it once it is up',
    skip: needs('down'),
    run: async (bench) => {
      await bench.reference.down?.();
      const opened = await bench.openUnready();
      await bench.reference.up?.();
      await bench.patience.eventually('a call after the provider came up', () =>
        opened.invoke({ target: '/echo/up' }).then(
          ({ status }) => status === 200,
          () => false,
        ),
      );
    },
  },
  {
    id: 'open.independent',
    title: 'keeps nothing in common between two that it opened: one closes, the other answers',
    run: async (bench) => {
      const [one, other] = [await bench.open(), await bench.open()];
      await one.read('/echo/one');
      await other.read('/echo/other');
      await one.close();
      const { target } = await other.read<Echo>('/echo/other?again=1');
      assert.equal(target, '/echo/other?again=1');
    },
  },
];
