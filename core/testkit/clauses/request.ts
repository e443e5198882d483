import assert from 'node:assert/strict';
import { MODULE_HTTP_METHODS } from '../../contract/index.js';
import { textOf } from '../adapter-harness.js';
import type { AdapterClause } from '../clause.js';
import { type Echo, EXACT_JSON, hashBody } from '../reference/behaviors.js';

const PATH = '/echo/a%20b/%C3%A4%c3%a4/x;y=1,2/~!$&()*+:@=-._/%E2%82%AC';
const QUERY = 'a=1&a=2&empty=&bare&plus=a+b&hex=%2F%2f%25&mark=%E2%82%AC';
/** Larger than the buffers of a socket, smaller than `limits.request_bytes` (1 MiB). */
const LARGE_BODY_BYTES = 1_000_000;

const HEADERS = {
  accept: 'application/json',
  'content-type': 'application/merge-patch+json',
  'x-request-id': 'req:1.A_b-c',
  'modgate-actor': 'service:testkit',
  'accept-language': 'de, en;q=0.5',
};

export const REQUEST: readonly AdapterClause[] = [
  {
    id: 'request.method',
    title: 'sends every method unchanged',
    run: async (harness) => {
      const opened = await harness.open();
      for (const method of MODULE_HTTP_METHODS) {
        const body = method === 'GET' || method === 'DELETE' ? null : Buffer.from('{}');
        const echo = await opened.read<Echo>('/echo/method', { method, body });
        assert.equal(echo.method, method);
      }
    },
  },
  {
    id: 'request.path',
    title: 'sends a path with the same decoded segments',
    run: async (harness) => {
      const opened = await harness.open();
      const { target } = await opened.read<Echo>(PATH);
      const [path = ''] = target.split('?');
      const decode = (text: string) => text.split('/').map(decodeURIComponent);
      assert.deepEqual(decode(path), decode(PATH));
    },
  },
  {
    id: 'request.query',
    title: 'sends a query with the same decoded pairs in the same order',
    run: async (harness) => {
      const opened = await harness.open();
      const { target } = await opened.read<Echo>(`/echo/query?${QUERY}`);
      const [, query = ''] = target.split('?');
      assert.deepEqual([...new URLSearchParams(query)], [...new URLSearchParams(QUERY)]);
    },
  },
  {
    id: 'request.target',
    title: 'sends the raw path and query byte for byte',
    run: async (harness) => {
      const opened = await harness.open();
      for (const sent of [`${PATH}?${QUERY}`, '/echo/a?', '/echo/a?b?c/../d', '/echo/%2e%41']) {
        const { target } = await opened.read<Echo>(sent);
        assert.equal(target, sent);
      }
    },
  },
  {
    id: 'request.headers',
    title: "sends the host's headers unchanged",
    run: async (harness) => {
      const opened = await harness.open();
      const call = { method: 'POST', target: '/echo/headers', body: Buffer.from('1') } as const;
      const work = opened.invoke(call, { headers: HEADERS });
      const outcome = await harness.wait.settles('a call', work);
      const { headers } = JSON.parse(textOf(outcome)) as Echo;
      for (const [name, value] of Object.entries(HEADERS)) {
        assert.equal(headers[name], value, `the header ${name} must arrive unchanged`);
      }
    },
  },
  {
    id: 'request.header-injection',
    title: 'does not turn line breaks in a header value into a header or request',
    run: async (harness) => {
      const opened = await harness.open();
      for (const end of [
        '\r\n',
        '\n',
        '\r',
        '\r\n\r\nGET /echo/smuggled HTTP/1.1\r\nhost: a\r\n',
      ]) {
        const headers = { accept: 'application/json', 'x-held': `a${end}x-injected: b` };
        const call = opened.invoke({ target: '/echo/held?marker=held' }, { headers });
        const response = call.then(
          (outcome) => JSON.parse(textOf(outcome)) as Echo,
          () => null,
        );
        const echo = await harness.wait.settles('a call with a line break in a header', response);
        assert.equal(echo?.headers['x-injected'], undefined, 'a header was injected');
      }
      const { target } = await opened.read<Echo>('/echo/after');
      assert.equal(target, '/echo/after', 'the next call must get its own response');
    },
  },
  {
    id: 'request.body',
    title: 'sends the body byte for byte, including a large one',
    run: async (harness) => {
      const opened = await harness.open();
      const large = Buffer.from(`"${'ä'.repeat(LARGE_BODY_BYTES / 2)}"`);
      for (const body of [Buffer.from(EXACT_JSON), Buffer.from('null'), large]) {
        const echo = await opened.read<Echo>('/echo/body', { method: 'POST', body });
        const expectation = `a body of ${body.length} bytes must arrive unchanged`;
        assert.equal(echo.bodySha256, hashBody(body), expectation);
      }
    },
  },
  {
    id: 'request.no-body',
    title: 'sends no body when there is none',
    run: async (harness) => {
      const opened = await harness.open();
      for (const method of ['GET', 'DELETE'] as const) {
        const { bodySha256 } = await opened.read<Echo>('/echo/none', { method });
        assert.equal(bodySha256, null, `a ${method} must arrive without a body`);
      }
    },
  },
];
