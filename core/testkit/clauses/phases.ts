import assert from 'node:assert/strict';
import type { AdapterClause } from '../clause.js';
import { needs } from './needs.js';
import { callWithParts } from './streamed-requests.js';

const LIMIT = 1_000;
const PART = Buffer.alloc(50_000, 'x');
/** More than the buffers of a connection take. */
const MAX_PARTS = 2_000;
const FIELD = /^(?:\/.*|(?:query|path|header)\..+)?$/s;

export const PHASES: readonly AdapterClause[] = [
  {
    id: 'failure.preparing',
    title: 'says that a call failed because its credentials were not issued: phase preparing',
    skip: needs('credentials'),
    run: async (harness) => {
      const before = await harness.open();
      await before.read('/echo/before');
      const issue = harness.reference.credentials?.withhold();
      const opened = await harness.openUnready();
      const call = opened.invoke({ target: '/echo/preparing?marker=preparing' });
      const { phase } = await harness.failureOf('a call without its credentials', call);
      assert.equal(phase, 'preparing', 'without credentials the phase must be preparing');
      issue?.();
      const seen = await before.read<number>('/seen/preparing');
      assert.equal(seen, 0, 'a call without its credentials must not be sent');
    },
  },
  {
    id: 'failure.invalid',
    title: 'names what of a call it cannot send, and sends nothing: refused, phase preparing',
    skip: needs('invalid'),
    run: async (harness) => {
      const opened = await harness.open();
      const { headers, ...call } = harness.reference.invalid ?? {};
      const target = '/echo/invalid?marker=invalid';
      const work = opened.invoke({ ...call, target }, headers === undefined ? {} : { headers });
      const failure = await harness.failureOf('a call that does not fit', work, 'refused');
      assert.equal(failure.phase, 'preparing', 'the phase must be preparing');
      assert.ok(failure.invalid.length > 0, 'invalid must name what does not fit');
      for (const { field, reason } of failure.invalid) {
        assert.match(field, FIELD, 'a field must be a JSON Pointer, or begin with its place');
        assert.ok(reason !== '', 'a reason must say what is expected');
      }
      const seen = await opened.read<number>('/seen/invalid');
      assert.equal(seen, 0, 'a call that does not fit must not be sent');
    },
  },
  {
    id: 'failure.starting',
    title: 'says when to try again while its provider starts: unavailable, phase preparing',
    skip: needs('holdStart'),
    run: async (harness) => {
      const start = harness.reference.holdStart?.();
      const opened = await harness.openUnready();
      const work = opened.invoke({ target: '/echo/starting' });
      const failure = await harness.failureOf('a call while it starts', work, 'unavailable');
      assert.equal(failure.phase, 'preparing', 'the phase must be preparing');
      assert.ok((failure.retryAfterMs ?? 0) > 0, 'retryAfterMs must say when to try again');
      start?.();
      await harness.wait.eventually('a call once it has started', () =>
        opened.read('/echo/started').then(
          () => true,
          () => false,
        ),
      );
    },
  },
  {
    id: 'failure.connecting',
    title: 'says that a call failed before anything was sent: phase connecting',
    skip: needs('down'),
    run: async (harness) => {
      await harness.reference.down?.();
      const opened = await harness.openUnready();
      const call = opened.invoke({ target: '/echo/down' });
      const { phase } = await harness.failureOf('a call while down', call, 'unavailable');
      assert.equal(phase, 'connecting', 'without a connection the phase must be connecting');
    },
  },
  {
    id: 'failure.sending',
    title: 'says that a call failed while its body was sent: phase sending',
    skip: needs('streams', 'down', 'holdBodies'),
    run: async (harness) => {
      const opened = await harness.open();
      await opened.read('/echo/before');
      harness.reference.holdBodies?.();
      const call = callWithParts(opened, writeUntilDown(harness.reference), '/echo/sending');
      const { phase } = await harness.failureOf(
        'a call whose provider goes down',
        call,
        'unavailable',
      );
      assert.equal(phase, 'sending', 'within the body of a request the phase must be sending');
    },
  },
  {
    id: 'failure.responding',
    title: 'says that a call failed after it was sent: phase responding',
    skip: needs('down'),
    run: async (harness) => {
      const opened = await harness.open();
      const call = opened.invoke({ target: '/hang?marker=phase' });
      call.catch(() => {});
      await harness.wait.eventually(
        'the arrival of the call',
        async () => (await opened.read<number>('/seen/phase')) === 1,
      );
      await harness.reference.down?.();
      const { phase } = await harness.failureOf('a call that was in flight', call, 'unavailable');
      assert.equal(phase, 'responding', 'after the request the phase must be responding');
    },
  },
  {
    id: 'failure.answered',
    title: 'says that a response has arrived that is too large: phase answered',
    run: async (harness) => {
      const opened = await harness.open();
      const call = opened.invoke({ target: `/bytes/${LIMIT + 1}` }, { maxResponseBytes: LIMIT });
      const { phase } = await harness.failureOf('a response that is too large', call, 'protocol');
      assert.equal(
        phase,
        'answered',
        'for a response that is too large the phase must be answered',
      );
    },
  },
];

/** Stops the provider after some parts, and writes on until the adapter stops reading. */
async function* writeUntilDown(reference: { down?(): Promise<void> }): AsyncGenerator<Uint8Array> {
  for (let count = 0; count < MAX_PARTS; count += 1) {
    if (count === 4) await reference.down?.();
    yield PART;
  }
}
