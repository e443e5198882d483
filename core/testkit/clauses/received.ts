import assert from 'node:assert/strict';
import { joinBody } from '../../contract/index.js';
import { cancel } from '../adapter-harness.js';
import type { AdapterClause } from '../clause.js';
import { needs } from './needs.js';

const BYTES = 100_000;
const CALLS = 10;

export const RECEIVED: readonly AdapterClause[] = [
  {
    id: 'answer.counted',
    title: 'counts the bytes of a response while they arrive, each once',
    skip: needs('trickle'),
    run: async (harness) => {
      const opened = await harness.open();
      let counted = 0;
      const countReceived = (bytes: number) => {
        counted += bytes;
      };
      const work = opened.invoke({ target: `/bytes/${BYTES}` }, { countReceived });
      const { body } = await harness.wait.settles('a response', work);
      const { length } = joinBody(body);
      // Some transports carry more bytes than the body has, such as base64.
      assert.ok(counted < 2 * length, `${counted} bytes were counted of a body of ${length}`);
      counted = 0;
      const controller = new AbortController();
      const { signal } = controller;
      const call = opened.invoke({ target: '/fault/trickle' }, { countReceived, signal });
      call.catch(() => {});
      await harness.wait.eventually('a call of countReceived', () => counted > 0);
      cancel(controller);
      await harness.failureOf('a call that is cancelled', call, 'cancelled');
    },
  },
  {
    id: 'answer.not-needed',
    title: 'returns no body, and stops the transfer, when needsBody has returned false',
    skip: needs('trickle'),
    run: async (harness) => {
      const opened = await harness.open();
      const asked: { status: number; headers: Readonly<Record<string, string>> }[] = [];
      const needsBody = (status: number, headers: Readonly<Record<string, string>>) => {
        asked.push({ status, headers });
        return false;
      };
      const work = opened.invoke({ target: `/bytes/${BYTES}` }, { needsBody });
      const { body } = await harness.wait.settles('a response', work);
      // An adapter need not ask.
      if (asked.length === 0) return;
      assert.equal(joinBody(body).length, 0, 'the response must be returned without its body');
      assert.equal(asked[0]?.status, 200);
      assert.equal(asked[0]?.headers['content-type'], 'application/json');
      for (let count = 0; count < CALLS; count += 1) {
        const trickle = opened.invoke({ target: '/fault/trickle' }, { needsBody });
        await harness.wait.settles('a response whose body is not needed', trickle);
      }
      await harness.wait.eventually(
        'the release of the connections',
        () => (harness.reference.connections?.() ?? 0) < CALLS,
      );
    },
  },
  {
    id: 'answer.secrets',
    title: 'returns credentials that it has requested for the call as secrets of the outcome',
    skip: needs('credentials'),
    run: async (harness) => {
      const opened = await harness.open();
      for (const target of ['/echo/secrets', '/status/500']) {
        const work = opened.invoke({ target });
        const { secrets = [] } = await harness.wait.settles(`GET ${target}`, work);
        const issued = harness.reference.credentials?.issued().at(-1);
        assert.ok(issued !== undefined, 'the adapter must request its credentials');
        const values = secrets.map((secret) => secret.reveal());
        assert.ok(values.includes(issued), `secrets of GET ${target} must have its credentials`);
      }
    },
  },
];
