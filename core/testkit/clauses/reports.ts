import assert from 'node:assert/strict';
import { type Progress, ProviderFailure } from '../../contract/index.js';
import { textOf } from '../adapter-harness.js';
import type { AdapterClause } from '../clause.js';
import { needs } from './needs.js';

const MAX_FACTS = 100;
const PART = Buffer.alloc(50_000, 'x');
const PARTS = 20;

/** What adapters report beside responses. */
export const REPORTS: readonly AdapterClause[] = [
  {
    id: 'open.counters',
    title: 'opens at most 16 counters, each with a name and a help text that hosts accept',
    run: async (harness) => {
      const opened = await harness.open();
      await opened.read('/echo/counted');
    },
  },
  {
    id: 'readiness.facts',
    title: 'lists its facts, if any, at once, with different names and without secrets',
    run: async (harness) => {
      const { provider } = await harness.open();
      const facts: unknown = provider.facts?.() ?? [];
      assert.ok(
        Array.isArray(facts) && facts.length <= MAX_FACTS,
        `facts must be a list of at most ${MAX_FACTS}`,
      );
      for (const { name, value } of facts) {
        const isText = typeof name === 'string' && typeof value === 'string';
        assert.ok(isText && name !== '', 'a fact must have a name and a value, which are texts');
      }
      const names = new Set(facts.map(({ name }) => name));
      assert.equal(names.size, facts.length, 'the names of facts must differ');
      for (const secret of Object.values(harness.reference.secrets ?? {})) {
        assert.ok(!JSON.stringify(facts).includes(secret), 'a fact must not contain a secret');
      }
    },
  },
  {
    id: 'calls.hold',
    title: 'fails a call whose memory the host denies, and releases what it holds once',
    skip: needs('streams'),
    run: async (harness) => {
      const opened = await harness.open();
      const send = (hold: (bytes: number) => () => void) =>
        opened.invoke(
          { method: 'POST', target: '/echo/hold?marker=hold', bodyStream: writeParts() },
          { hold },
        );
      const releases: number[] = [];
      const held = send(() => {
        const index = releases.push(0) - 1;
        return () => {
          releases[index] = (releases[index] ?? 0) + 1;
        };
      });
      await harness.wait.settles('a call with a long body', held);
      assert.ok(
        releases.every((count) => count <= 1),
        'what is held must be released once',
      );
      if (releases.length === 0) return;
      const denied = send(() => {
        throw new ProviderFailure('overloaded', 'no memory is left');
      });
      await harness.failureOf('a call whose memory is denied', denied, 'overloaded');
      const seen = await opened.read<number>('/seen/hold');
      assert.equal(seen, 1, 'a call whose memory is denied must not be sent');
    },
  },
  {
    id: 'calls.progress',
    title: 'reports the progress of a call, in numbers',
    skip: needs('progress'),
    run: async (harness) => {
      const opened = await harness.open();
      const reports: Progress[] = [];
      const work = opened.invoke(harness.reference.progress ?? {}, {
        reportProgress: (progress) => reports.push(progress),
      });
      await harness.wait.settles('a call with progress', work);
      assert.ok(reports.length > 0, 'the progress must be reported');
      for (const { progress, total = 0 } of reports) {
        const areNumbers = Number.isFinite(progress) && Number.isFinite(total);
        assert.ok(areNumbers, 'progress and total must be numbers');
      }
    },
  },
  {
    id: 'answer.tool-result',
    title: 'returns the results of its tools as they are',
    skip: needs('toolResults'),
    run: async (harness) => {
      const opened = await harness.open();
      const work = opened.send({ target: '/echo/tool' });
      const outcome = await harness.wait.settles('a call of a tool', work);
      assert.equal(outcome.status, 200, 'the result of a tool must have the status 200');
      const { content, isError = false } = JSON.parse(textOf(outcome));
      const areBlocks =
        Array.isArray(content) && content.every((block) => typeof block?.type === 'string');
      assert.ok(areBlocks, 'the response must be the result of a tool, with blocks of content');
      assert.equal(isError, false, 'a tool that answers must not be an error');
    },
  },
];

async function* writeParts(): AsyncGenerator<Uint8Array> {
  for (let count = 0; count < PARTS; count += 1) yield PART;
}
