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
    run: async (harness) => {
      await harness.reference.down?.();
      const opened = await harness.openUnready();
      const call = opened.invoke({ target: '/echo/down' });
      const { status } = await harness.failureOf('a call while down', call, 'unavailable');
      assert.equal(status, null, 'status must be null, because none was received');
    },
  },
  {
    id: 'failure.goes-down',
    title: 'fails as unavailable when the provider goes down before it responds',
    skip: needs('down'),
    run: async (harness) => {
      const opened = await harness.open();
      const call = opened.invoke({ target: '/hang?marker=hangs' });
      // Awaited only later: without this an early rejection would be unhandled.
      call.catch(() => {});
      await harness.wait.eventually(
        'the arrival of the call',
        async () => (await opened.read<number>('/seen/hangs')) === 1,
      );
      await harness.reference.down?.();
      await harness.failureOf('a call that was in flight', call, 'unavailable');
    },
  },
  {
    id: 'failure.reset',
    title: 'fails as unavailable when the connection is reset before the response',
    skip: needs('reset'),
    run: async (harness) => {
      const opened = await harness.open();
      const call = opened.invoke({ target: '/fault/reset' });
      await harness.failureOf('a call that is reset', call, 'unavailable');
      await opened.read('/echo/after');
    },
  },
  {
    id: 'failure.half-closed',
    title: 'does not hang when the provider ends its side of the connection without a response',
    skip: needs('half_close'),
    run: async (harness) => {
      const opened = await harness.open();
      const call = opened.invoke({ target: '/fault/half_close' });
      await harness.failureOf(
        'a call on a half-closed connection',
        call,
        'unavailable',
        'protocol',
      );
      await opened.read('/echo/after');
    },
  },
  {
    id: 'failure.no-secrets',
    title: 'does not reveal secrets in messages, log lines, endpoints or when it is inspected',
    skip: needs('secrets'),
    run: async (harness) => {
      const opened = await harness.open();
      const { provider, context } = opened;
      await opened.read('/echo/well');
      const errors: unknown[] = [];
      const keep = (error: unknown) => void errors.push(error);
      const { faults = [], down } = harness.reference;
      for (const fault of faults.filter((name) => name !== 'trickle' && name !== 'endless')) {
        await harness.wait.settles(
          `the fault ${fault}`,
          opened.invoke({ target: `/fault/${fault}` }).catch(keep),
        );
      }
      const late = opened.invoke({ target: '/hang' }, { signal: deadlineAfter(20) });
      await harness.wait.settles('a call with a deadline', late.catch(keep));
      if (down !== undefined) {
        await down.call(harness.reference);
        const signal = new AbortController().signal;
        const works: (() => Promise<unknown>)[] = [
          () => opened.invoke({ target: '/echo/down' }),
          () => provider.check(signal),
          () => provider.manifest(signal),
        ];
        for (const work of works) {
          await harness.wait.settles('work while down', work().catch(keep));
        }
      }
      const exposed = {
        errors,
        log: context.log.lines,
        endpoints: provider.endpoints?.(),
        provider,
      };
      const text = inspect(exposed, { depth: INSPECT_DEPTH, maxStringLength: null });
      for (const [reference, value] of Object.entries(harness.reference.secrets ?? {})) {
        assert.ok(!text.includes(value), `the secret behind ${reference} is revealed`);
        const encoded = Buffer.from(value).toString('base64').replace(/=+$/, '');
        assert.ok(!text.includes(encoded), `the secret behind ${reference} is revealed in base64`);
      }
    },
  },
];
