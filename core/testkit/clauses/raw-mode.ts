import assert from 'node:assert/strict';
import { textOf } from '../adapter-harness.js';
import type { AdapterClause } from '../clause.js';
import { VERSION_HEADERS } from '../reference/behaviors.js';

const BARE_STATUSES = [200, 201, 401, 404, 412, 500];

/** Rules for raw mode, whose clients receive what the provider sent. */
export const RAW_MODE: readonly AdapterClause[] = [
  {
    id: 'answer.header-values',
    title: 'returns header values unchanged, with their commas, quotes and entity tags',
    run: async (harness) => {
      const opened = await harness.open();
      const work = opened.invoke({ target: '/version' });
      const { status, headers } = await harness.wait.settles('a call', work);
      assert.equal(status, 200);
      assertVersionHeaders(headers);
    },
  },
  {
    id: 'answer.not-modified',
    title: 'sends a condition, and returns a 304 with its headers and without a body',
    run: async (harness) => {
      const opened = await harness.open();
      const conditions = { 'if-none-match': VERSION_HEADERS.etag };
      const work = opened.invoke({ target: '/version' }, { headers: conditions });
      const outcome = await harness.wait.settles('a conditional call', work);
      assert.equal(outcome.status, 304, 'the condition must arrive, and 304 must be returned');
      assert.equal(textOf(outcome), '', 'the body must be null or empty');
      assertVersionHeaders(outcome.headers);
      await opened.read('/echo/after');
    },
  },
  {
    id: 'answer.bare',
    title: 'returns a response without a body, with any status',
    run: async (harness) => {
      const opened = await harness.open();
      for (const status of BARE_STATUSES) {
        const work = opened.invoke({ target: `/bare/${status}` });
        const outcome = await harness.wait.settles(`a response with ${status}`, work);
        assert.equal(outcome.status, status);
        assert.equal(textOf(outcome), '', `the body of ${status} must be null or empty`);
        const type = outcome.headers['content-type'];
        assert.equal(type, undefined, 'a content-type must not be added');
      }
    },
  },
];

function assertVersionHeaders(headers: Readonly<Record<string, string>>): void {
  for (const [name, value] of Object.entries(VERSION_HEADERS)) {
    assert.equal(headers[name], value, `the header ${name} must be returned unchanged`);
  }
}
