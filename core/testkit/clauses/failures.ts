import assert from 'node:assert/strict';
import { inspect } from 'node:util';
import { deadlineAfter } from '../adapter-harness.js';
import type { AdapterClause } from '../clause.js';
import type { ReferenceFault } from '../reference/reference-protocol.js';
import type { RunningReference } from '../reference/running-reference.js';
import { needs } from './needs.js';

const INSPECT_DEPTH = 8;
const LIMIT = 1_000;
const REQUEST_TEXT = 'modgate-testkit-request-body';
/** A part of the response of `/bytes`. */
const RESPONSE_TEXT = 'x'.repeat(16);
const LINE_BREAKS = /[\p{Cc}\u2028\u2029]/u;

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
    id: 'failure.detail',
    title: 'says in one line why a call failed, without a part of its bodies',
    run: async (harness) => {
      const opened = await harness.open();
      const body = Buffer.from(JSON.stringify({ text: REQUEST_TEXT }));
      const post = { method: 'POST', body } as const;
      const check = async (subject: string, call: Promise<unknown>) => {
        const { detail } = await harness.failureOf(subject, call);
        assert.ok(detail !== '', `the detail of ${subject} must say why it failed`);
        assert.doesNotMatch(detail, LINE_BREAKS, `the detail of ${subject} must be one line`);
        assertHidden(detail, REQUEST_TEXT, 'the body of a request');
        assertHidden(detail, RESPONSE_TEXT, 'the body of a response');
      };
      const target = `/bytes/${LIMIT + 1}`;
      const large = opened.invoke({ ...post, target }, { maxResponseBytes: LIMIT });
      await check('a response that is too large', large);
      for (const fault of endingFaults(harness.reference)) {
        await check(`the fault ${fault}`, opened.invoke({ ...post, target: `/fault/${fault}` }));
      }
      const { down } = harness.reference;
      if (down === undefined) return;
      await down.call(harness.reference);
      await check('a call while down', opened.invoke({ ...post, target: '/echo/down' }));
    },
  },
  {
    id: 'failure.no-secrets',
    title: 'does not reveal secrets in messages, log lines, endpoints or when it is inspected',
    skip: (harness) => (needs('credentials')(harness) === null ? null : needs('secrets')(harness)),
    run: async (harness) => {
      const opened = await harness.open();
      const { provider, context } = opened;
      await opened.read('/echo/well');
      const errors: unknown[] = [];
      const keep = (error: unknown) => void errors.push(error);
      const { down, credentials } = harness.reference;
      for (const fault of endingFaults(harness.reference)) {
        await harness.wait.settles(
          `the fault ${fault}`,
          opened.invoke({ target: `/fault/${fault}` }).catch(keep),
        );
      }
      const late = opened.invoke({ target: '/hang' }, { signal: deadlineAfter(20) });
      await harness.wait.settles('a call with a deadline', late.catch(keep));
      const logs = [context.log.lines];
      const problems = [provider.credentialProblem?.()];
      if (credentials !== undefined) {
        const issue = credentials.withhold();
        const unready = await harness.openUnready();
        const call = unready.invoke({ target: '/echo/withheld' });
        await harness.wait.settles('a call without its credentials', call.catch(keep));
        problems.push(unready.provider.credentialProblem?.());
        logs.push(unready.context.log.lines);
        issue();
      }
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
        logs,
        problems,
        endpoints: provider.endpoints?.(),
        provider,
      };
      const text = inspect(exposed, { depth: INSPECT_DEPTH, maxStringLength: null });
      for (const [reference, value] of Object.entries(harness.reference.secrets ?? {})) {
        assertHidden(text, value, `the secret behind ${reference}`);
      }
      for (const value of credentials?.issued() ?? []) {
        assertHidden(text, value, 'a credential that the adapter has requested');
      }
    },
  },
];

/** The faults after which a call ends. */
function endingFaults({ faults = [] }: RunningReference): readonly ReferenceFault[] {
  return faults.filter((name) => name !== 'trickle' && name !== 'endless');
}

function assertHidden(text: string, value: string, subject: string): void {
  assert.ok(!text.includes(value), `${subject} is revealed`);
  const encoded = Buffer.from(value).toString('base64').replace(/=+$/, '');
  assert.ok(!text.includes(encoded), `${subject} is revealed in base64`);
}
