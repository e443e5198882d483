import assert from 'node:assert/strict';
import { joinBody, type Outcome } from '../../contract/index.js';
import { textOf } from '../adapter-harness.js';
import type { AdapterClause } from '../clause.js';
import { EXACT_JSON, NOT_TEXT } from '../reference/behaviors.js';
import { needs } from './needs.js';

const STATUSES = [200, 201, 202, 299, 400, 401, 404, 409, 422, 429, 500, 502, 503, 599];
const LIMIT = 1_000;

export const ANSWER: readonly AdapterClause[] = [
  {
    id: 'answer.shape',
    title: 'returns a status, string headers, and a body of bytes or null',
    run: async (harness) => {
      const opened = await harness.open();
      for (const target of ['/exact', '/empty', '/status/404', '/headers']) {
        const work = opened.invoke({ target });
        assertShape(await harness.wait.settles(`GET ${target}`, work));
      }
    },
  },
  {
    id: 'answer.body',
    title: 'returns the body byte for byte',
    run: async (harness) => {
      const opened = await harness.open();
      const outcome = await harness.wait.settles('a call', opened.invoke({ target: '/exact' }));
      assert.equal(textOf(outcome), EXACT_JSON);
    },
  },
  {
    id: 'answer.not-json',
    title: 'returns a body that is not JSON unchanged; the host validates it',
    run: async (harness) => {
      const opened = await harness.open();
      const { status, headers, body } = await harness.wait.settles(
        'a call with a binary response',
        opened.invoke({ target: '/text' }),
      );
      assert.equal(status, 200);
      assert.deepEqual([...joinBody(body)], [...NOT_TEXT]);
      assert.equal(headers['content-type'], 'application/octet-stream');
    },
  },
  {
    id: 'answer.empty',
    title: 'returns an empty body as null or no bytes',
    run: async (harness) => {
      const opened = await harness.open();
      const outcome = await harness.wait.settles('a call', opened.invoke({ target: '/empty' }));
      assert.equal(outcome.status, 204);
      assert.equal(textOf(outcome), '', 'the body must be null or empty');
    },
  },
  {
    id: 'answer.status',
    title: 'returns any status as a response, including error statuses',
    run: async (harness) => {
      const opened = await harness.open();
      for (const status of STATUSES) {
        const work = opened.invoke({ target: `/status/${status}` });
        const outcome = await harness.wait.settles(`a response with ${status}`, work);
        assert.equal(outcome.status, status);
      }
    },
  },
  {
    id: 'answer.error-body',
    title: 'returns the body of an error',
    run: async (harness) => {
      const opened = await harness.open();
      const work = opened.invoke({ target: '/status/409' });
      const outcome = await harness.wait.settles('a response with 409', work);
      assert.equal(textOf(outcome), '{"status":409}');
      assert.equal(outcome.headers['content-type'], 'application/json');
    },
  },
  {
    id: 'answer.headers',
    title: 'returns header names in lower case, repeated headers joined by a comma and a space',
    run: async (harness) => {
      const opened = await harness.open();
      const work = opened.invoke({ target: '/headers' });
      const { headers } = await harness.wait.settles('a call', work);
      assert.equal(headers['x-reference'], 'Kept As It Is');
      assert.equal(headers['x-repeated'], 'one, two');
      for (const name of Object.keys(headers)) assert.equal(name, name.toLowerCase());
    },
  },
  {
    id: 'answer.redirect',
    title: 'does not follow redirects',
    run: async (harness) => {
      const opened = await harness.open();
      const work = opened.invoke({ target: '/redirect?marker=redirected' });
      const { status } = await harness.wait.settles('a call', work);
      assert.equal(status, 302);
      assert.equal(await opened.read<number>('/seen/redirected'), 1);
    },
  },
  {
    id: 'answer.at-limit',
    title: 'returns a body of exactly maxResponseBytes',
    run: async (harness) => {
      const opened = await harness.open();
      const target = `/bytes/${LIMIT}`;
      const maxResponseBytes = await harness.lengthOf(opened, target);
      const work = opened.invoke({ target }, { maxResponseBytes });
      const { body } = await harness.wait.settles('a call', work);
      assert.equal(joinBody(body).length, LIMIT);
    },
  },
  {
    id: 'answer.oversize',
    title: 'fails as protocol for a body larger than maxResponseBytes',
    run: async (harness) => {
      const opened = await harness.open();
      for (const length of [LIMIT + 1, LIMIT * 1_000]) {
        const call = opened.invoke({ target: `/bytes/${length}` }, { maxResponseBytes: LIMIT });
        await harness.failureOf(`a response of ${length} bytes (limit ${LIMIT})`, call, 'protocol');
      }
    },
  },
  {
    id: 'answer.malformed',
    title: 'fails as protocol for a response that violates the protocol of the transport',
    skip: needs('malformed'),
    run: async (harness) => {
      const opened = await harness.open();
      const call = opened.invoke({ target: '/fault/malformed' });
      await harness.failureOf('a malformed response', call, 'protocol');
      await opened.read('/echo/after');
    },
  },
  {
    id: 'answer.cut-short',
    title: 'fails as protocol for a truncated response',
    skip: needs('cut_short'),
    run: async (harness) => {
      const opened = await harness.open();
      const call = opened.invoke({ target: '/fault/cut_short' });
      await harness.failureOf('a truncated response', call, 'protocol');
      await opened.read('/echo/after');
    },
  },
];

function assertShape({ status, headers, body }: Outcome): void {
  assert.ok(
    Number.isInteger(status) && status >= 100 && status <= 599,
    'status must be 100 to 599',
  );
  assert.ok(typeof headers === 'object' && headers !== null, 'headers must be an object');
  for (const [name, value] of Object.entries(headers)) {
    assert.equal(typeof value, 'string', `the header ${name} must be text`);
  }
  const pieces = Array.isArray(body) ? body : [body ?? new Uint8Array()];
  const isBytes = pieces.every((piece) => piece instanceof Uint8Array);
  assert.ok(isBytes, 'body must be bytes, pieces of them, or null');
}
