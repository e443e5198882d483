import { expect } from 'chai';
import { headerValue } from '../../../../core/selftest/raw-http.js';
import { call, JSON_TYPE, parseJson } from '../../../support/http/call.js';
import { describeModule } from '../../../support/http/modules.js';
import { useHost } from '../../../support/http/use-host.js';

const ROUTES = [
  { method: 'GET', path: '/items', capability: 'shop.read' },
  { method: 'POST', path: '/items', capability: 'shop.write' },
  { method: 'DELETE', path: '/items', capability: 'shop.write' },
  { method: 'GET', path: '/files', capability: 'shop.read', operation: { response: 'bytes' } },
  { method: 'GET', path: '/open', capability: 'shop.read', access: 'public' },
];
const READER = 'dev-service:reader:shop.read';
const STRANGER = 'dev-service:stranger:other.read';
const LIMITS = { response_bytes: 1000, bytes: { response: 2000 } };

interface Told {
  readonly detail: string;
  readonly errors: readonly { readonly field: string; readonly reason: string }[];
  readonly next_actions?: readonly string[];
}

describe('an error', () => {
  const setup = useHost((provider) => ({
    'shop.json': describeModule('shop', provider.url, ROUTES, { limits: LIMITS, public: true }),
  }));
  const send = (method: string, path: string, as: string | null = READER, extra: object = {}) =>
    call(setup.host, { method, target: `/modules/shop/http${path}`, as, ...extra });
  const read = async (...args: Parameters<typeof send>) =>
    parseJson(await send(...args)) as unknown as Told;

  const text = JSON.stringify('x'.repeat(3000));
  const chunked =
    'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n' +
    `${text.length.toString(16)}\r\n${text}\r\n0\r\n\r\n`;
  for (const [path, limit, bytes, framing, answer] of [
    ['/items', 'limits.response_bytes', 1000, 'a length', { status: 200, body: text }],
    ['/items', 'limits.response_bytes', 1000, 'chunks', { raw: [chunked] }],
    ['/files', 'limits.bytes.response', 2000, 'a length', { status: 200, body: text }],
  ] as const) {
    it(`names ${limit} for a longer response with ${framing}`, async () => {
      setup.provider.answer('raw' in answer ? answer : { ...answer, headers: [JSON_TYPE] });
      const { detail, errors, next_actions } = await read('GET', path);
      expect(detail).to.contain(`${limit} of the descriptor`).and.contain(`${bytes} bytes`);
      expect(errors).to.deep.include({ field: 'limit', reason: limit });
      expect(next_actions?.[0]).to.equal('ask for less, such as a shorter page');
    });
  }

  for (const status of [429, 503]) {
    it(`has the retry-after of the provider's ${status}`, async () => {
      setup.provider.answer({ status, headers: [JSON_TYPE, ['retry-after', '7']], body: '{}' });
      const response = await send('POST', '/items', 'dev-service:w:shop.write', {
        headers: [JSON_TYPE],
        body: Buffer.from('{}'),
      });
      expect(response.status).to.equal(502);
      expect(headerValue(response.headers, 'retry-after')).to.equal('7');
      const { next_actions } = parseJson(response) as unknown as Told;
      expect(next_actions?.[0]).to.equal('try again after the time in retry-after');
    });
  }

  it('drops a malformed retry-after, and that of another status', async () => {
    for (const [status, value] of [
      [503, 'soon'],
      [500, '7'],
    ] as const) {
      setup.provider.answer({ status, headers: [JSON_TYPE, ['retry-after', value]], body: '{}' });
      expect(headerValue((await send('GET', '/items')).headers, 'retry-after')).to.equal(undefined);
    }
  });

  it('does not ask for a body where none is accepted', async () => {
    const extra = { headers: [JSON_TYPE], body: Buffer.from('{}') };
    const { errors, next_actions } = await read(
      'DELETE',
      '/items',
      'dev-service:w:shop.write',
      extra,
    );
    expect(errors).to.deep.equal([{ field: 'body', reason: 'DELETE accepts no body' }]);
    expect(next_actions).to.deep.equal(['send the request without a body']);
    const encoded = { ...extra, headers: [JSON_TYPE, ['content-encoding', 'gzip']] };
    const problem = await read('POST', '/items', 'dev-service:w:shop.write', encoded);
    expect(problem.next_actions).to.deep.equal(['send the body without content-encoding']);
  });

  it('names the methods of the path to a caller who may call one of them', async () => {
    const named = [{ field: 'method', reason: 'expected GET or POST or DELETE' }];
    for (const method of ['PUT', 'OPTIONS', 'PROPFIND']) {
      const problem = await read(method, '/items', READER, { headers: [['content-length', '0']] });
      expect(problem.errors, method).to.deep.equal(named);
      expect(problem.next_actions).to.deep.equal(['use GET or POST or DELETE']);
    }
    for (const [path, as] of [
      ['/items', STRANGER],
      ['/none', READER],
    ] as const) {
      expect((await read('PUT', path, as)).errors, path).to.deep.equal([]);
    }
    const open = await read('PUT', '/open', STRANGER);
    expect(open.errors).to.deep.equal([{ field: 'method', reason: 'expected GET' }]);
  });

  it('of the first page names the pages about routes', async () => {
    const { next_actions } = parseJson(
      await call(setup.host, { target: '/', as: null }),
    ) as unknown as Told;
    expect(next_actions?.join()).to.contain('/docs').and.contain('/openapi.json');
  });
});
