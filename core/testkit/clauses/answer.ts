import assert from 'node:assert/strict';
import { joinBody, type Outcome } from '../../contract/index.js';
import { textOf } from '../adapter-harness.js';
import type { AdapterClause } from '../clause.js';
import { EXACT_JSON, NOT_TEXT } from '../reference/behaviours.js';
import { needs } from './needs.js';

const STATUSES = [200, 201, 202, 299, 400, 401, 404, 409, 422, 429, 500, 502, 503, 599];
const LIMIT = 1_000;

export const ANSWER: readonly AdapterClause[] = [
  {
    id: 'answer.shape',
    title: 'answers with a status, headers of text, and bytes or null',
    run: async (bench) => {
      const opened = await bench.open();
      for (const target of ['/exact', '/empty', '/status/404', '/headers']) {
        const work = opened.invoke({ target });
        assertShape(await bench.patience.settles(`GET ${target}`, work));
      }
    },
  },
  {
    id: 'answer.body',
    title: 'answers the bytes of the body as they came',
    run: async (bench) => {
      const opened = await bench.open();
      const outcome = await bench.patience.settles('a call', opened.invoke({ target: '/exact' }));
      assert.equal(textOf(outcome), EXACT_JSON);
    },
  },
  {
    id: 'answer.not-json',
    title: 'answers what is no JSON as it came: the host judges',
    run: async (bench) => {
      const opened = await bench.open();
      const { status, headers, body } = await bench.patience.settles(
        'a call that is answered with bytes',
        opened.invoke({ target: '/text' }),
      );
      assert.equal(status, 200);
      assert.deepEqual([...joinBody(body)], [...NOT_TEXT]);
      assert.equal(headers['content-type'], 'application/octet-stream');
    },
  },
  {
    id: 'answer.empty',
    title: 'answers an empty body as null or no bytes',
    run: async (bench) => {
      const opened = await bench.open();
      const outcome = await bench.patience.settles('a call', opened.invoke({ target: '/empty' }));
      assert.equal(outcome.status, 204);
      assert.equal(textOf(outcome), '', 'the body must be null or empty');
    },
  },
  {
    id: 'answer.status',
    title: 'takes any status for an answer, also that of an error',
    run: async (bench) => {
      const opened = await bench.open();
      for (const status of STATUSES) {
        const work = opened.invoke({ target: `/status/${status}` });
        const outcome = await bench.patience.settles(`an answer of ${status}`, work);
        assert.equal(outcome.status, status);
      }
    },
  },
  {
    id: 'answer.error-body',
    title: 'hands on the body of an error',
    run: async (bench) => {
      const opened = await bench.open();
      const work = opened.invoke({ target: '/status/409' });
      const outcome = await bench.patience.settles('an answer of 409', work);
      assert.equal(textOf(outcome), '{"status":409}');
      assert.equal(outcome.headers['content-type'], 'application/json');
    },
  },
  {
    id: 'answer.headers',
    title: 'answers headers under lower-case names, a repeated one joined with a comma and a space',
    run: async (bench) => {
      const opened = await bench.open();
      const work = opened.invoke({ target: '/headers' });
      const { headers } = await bench.patience.settles('a call', work);
      assert.equal(headers['x-reference'], 'Kept As It Is');
      assert.equal(headers['x-repeated'], 'one, two');
      for (const name of Object.keys(headers)) assert.equal(name, name.toLowerCase());
    },
  },
  {
    id: 'answer.redirect',
    title: 'follows no redirect',
    run: async (bench) => {
      const opened = await bench.open();
      const work = opened.invoke({ target: '/redirect?marker=redirected' });
      const { status } = await bench.patience.settles('a call', work);
      assert.equal(status, 302);
      assert.equal(await opened.read<number>('/seen/redirected'), 1);
    },
  },
  {
    id: 'answer.at-limit',
    title: 'answers a body of exactly maxResponseBytes',
    run: async (bench) => {
      const opened = await bench.open();
      const work = opened.invoke({ target: `/bytes/${LIMIT}` }, { maxResponseBytes: LIMIT });
      const { body } = await bench.patience.settles('a call', work);
      assert.equal(joinBody(body).length, LIMIT);
    },
  },
  {
    id: 'answer.oversize',
    title: 'fails as protocol for a body of more than maxResponseBytes',
    run: async (bench) => {
      const opened = await bench.open();
      for (const length of [LIMIT + 1, LIMIT * 1_000]) {
        const call = opened.invoke({ target: `/bytes/${length}` }, { maxResponseBytes: LIMIT });
        await bench.failureOf(`an answer of ${length} bytes of ${LIMIT}`, call, 'protocol');
      }
    },
  },
  {
    id: 'answer.malformed',
    title: 'fails as protocol for an answer that breaks the rules of the transport',
    skip: needs('malformed'),
    run: async (bench) => {
      const opened = await bench.open();
      const call = opened.invoke({ target: '/fault/malformed' });
      await bench.failureOf('a malformed answer', call, 'protocol');
      await opened.read('/echo/after');
    },
  },
  {
    id: 'answer.cut-short',
    title: 'fails as protocol for an answer that breaks off',
    skip: needs('cut_short'),
    run: async (bench) => {
      const opened = await bench.open();
      const call = opened.invoke({ target: '/fault/cut_short' });
      await bench.failureOf('an answer that breaks off', call, 'protocol');
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
