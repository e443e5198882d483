import assert from 'node:assert/strict';
import type { AdapterClause } from '../clause.js';
import type { Echo } from '../reference/behaviors.js';
import { needs } from './needs.js';

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
    id: 'open.independent',
    title: 'shares nothing between two opened providers: closing one leaves the other usable',
    run: async (harness) => {
      const [one, other] = [await harness.open(), await harness.open()];
      await one.read('/echo/one');
      await other.read('/echo/other');
      await one.close();
      const { target } = await other.read<Echo>('/echo/other?again=1');
      assert.equal(target, '/echo/other?again=1');
    },
  },
];
