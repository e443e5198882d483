import assert from 'node:assert/strict';
import { inspect } from 'node:util';
import { deadlineAfter } from '../adapter-harness.js';
import type { AdapterClause } from '../clause.js';
import { needs } from './needs.js';

const INSPECT_DEPTH = 8;

export const FAILURES: readonly AdapterClause[] = [
  {
    id: 'failure.down',
    title: 'fails as unavailable while the provider is down',
    skip: needs('down'),
    run: async (bench) => {
      await bench.reference.down?.();
      const opened = await bench.openUnready();
      const call = opened.invoke({ target: '/echo/down' });
      const { status } = await bench.failureOf('a call while down', call, 'unavailable');
      assert.equal(status, null, 'status must be null: none was sent');
    },
  },
  {
    id: 'failure.goes-down',
    title: 'fails as unavailable when the provider goes down before it answers',
    skip: needs('down'),
    run: async (bench) => {
      const opened = await bench.open();
      const call = opened.invoke({ target: '/hang?marker=hangs' });
      // Not yet awaited: without this a rejection would be nobody's for a moment.
      call.catch(() => {});
      await bench.patience.eventually(
        'the arrival of the call',
        async () => (await opened.read<number>('/seen/hangs')) === 1,
      );
      await bench.reference.down?.();
      await bench.failureOf('a call that was in flight', call, 'unavailable');
    },
  },
  {
    id: 'failure.reset',
    title: 'fails as unavailable when the connection is reset before the answer',
    skip: needs('reset'),
    run: async (bench) => {
      const opened = await bench.open();
      const call = opened.invoke({ target: '/fault/reset' });
      await bench.failureOf('a call that is reset', call, 'unavailable');
      await opened.read('/echo/after');
    },
  },
  {
    id: 'failure.half-closed',
    title: 'does not hang when the provider ends its side of the connection without an answer',
    skip: needs('half_close'),
    run: async (bench) => {
      const opened = await bench.open();
      const call = opened.invoke({ target: '/fault/half_close' });
      await bench.failureOf('a call on a half-closed connection', call, 'unavailable', 'protocol');
      await opened.read('/echo/after');
    },
  },
  {
    id: 'failure.no-secrets',
    title: 'names no secret: in no message, no log line, no endpoint, not when it is inspected',
    skip: needs('secrets'),
    run: async (bench) => {
      const opened = await bench.open();
      const { provider, context } = opened;
      await opened.read('/echo/well');
      const errors: unknown[] = [];
      const keep = (error: unknown) => void errors.push(error);
      const { faults = [], down } = bench.reference;
      for (const fault of faults.filter((one) => one !== 'trickle')) {
        await bench.patience.settles(
          `the fault ${fault}`,
          opened.invoke({ target: `/fault/${fault}` }).catch(keep),
        );
      }
      const late = opened.invoke({ target: '/hang' }, { signal: deadlineAfter(20) });
      await bench.patience.settles('a call with a deadline', late.catch(keep));
      if (down !== undefined) {
        await down.call(bench.reference);
        const signal = new AbortController().signal;
        for (const work of [
          () => opened.invoke({ target: '/echo/down' }),
          () => provider.check(signal),
          () => provider.manifest(signal),
        ]) {
          await bench.patience.settles('work while down', work().catch(keep));
        }
      }
      const shown = { errors, log: context.log.lines, endpoints: provider.endpoints?.(), provider };
      const text = inspect(shown, { depth: INSPECT_DEPTH, maxStringLength: null });
      for (const [reference, value] of Object.entries(bench.reference.secrets ?? {})) {
        assert.ok(!text.includes(value), `the secret behind ${reference} is shown`);
        const encoded = Buffer.from(value).toString('base64').replace(/=+$/, '');
        assert.ok(!text.includes(encoded), `the secret behind ${reference} is shown in base64`);
      }
    },
  },
];
