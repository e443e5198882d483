import { expect } from 'chai';
import { headerValue } from '../../../core/selftest/raw-http.js';
import { call, JSON_TYPE, parseJson } from '../../support/http/call.js';
import { expectProblem } from '../../support/http/expect-problem.js';
import { describeModule, describeWideModule, METHODS } from '../../support/http/modules.js';
import { useHost } from '../../support/http/use-host.js';

const OTHER_METHODS = [
  'OPTIONS',
  'TRACE',
  'PROPFIND',
  'PROPPATCH',
  'MKCOL',
  'COPY',
  'MOVE',
  'LOCK',
  'REPORT',
  'SEARCH',
  'PURGE',
  'LINK',
  'M-SEARCH',
];
const HAS_BODY = new Set(['POST', 'PUT', 'PATCH']);

describe('methods of forwarded routes', () => {
  const setup = useHost((provider) => ({
    'wide.json': describeWideModule('wide', provider.url),
    'narrow.json': describeModule('narrow', provider.url, [
      { method: 'POST', path: '/only-post', capability: 'narrow.use' },
      { method: 'GET', path: '/only-get', capability: 'narrow.use' },
      { method: 'PUT', path: '/only-get/{id}', capability: 'narrow.use' },
    ]),
  }));
  const send = (method: string, target: string, as?: string | null) =>
    call(setup.host, {
      method,
      target,
      ...(as === undefined ? {} : { as }),
      ...(HAS_BODY.has(method) ? { headers: [JSON_TYPE], body: Buffer.from('{"a":1}') } : {}),
    });

  for (const method of METHODS) {
    it(`forwards ${method}`, async () => {
      const response = await send(method, '/modules/wide/http/a?b=c');
      expect(response.status).to.equal(200);
      expect(parseJson(response)['method']).to.equal(method);
      const received = setup.provider.only();
      expect(received.method).to.equal(method);
      expect(received.target).to.equal('/a?b=c');
      expect(received.body.toString()).to.equal(HAS_BODY.has(method) ? '{"a":1}' : '');
    });
  }

  for (const method of OTHER_METHODS) {
    it(`answers 404 to ${method} of an authenticated caller`, async () => {
      expectProblem(await send(method, '/modules/wide/http/a'), 404);
      expect(setup.provider.requests).to.have.length(0);
    });

    it(`answers 401 to ${method} without credentials`, async () => {
      expectProblem(await send(method, '/modules/wide/http/a', null), 401);
    });
  }

  it('serves HEAD by the GET route, without a body', async () => {
    const response = await send('HEAD', '/modules/wide/http/a?b=c');
    expect(response.status).to.equal(200);
    expect(headerValue(response.headers, 'content-type')).to.match(/^application\/json/);
    expect(headerValue(response.headers, 'x-request-id')).to.match(/^req_/);
    const received = setup.provider.only();
    expect([received.method, received.target]).to.deep.equal(['GET', '/a?b=c']);
  });

  it('sends no byte of a body after the head of a HEAD', async () => {
    const get = await send('GET', '/modules/wide/http/a');
    const head = await send('HEAD', '/modules/wide/http/a');
    const length = headerValue(head.headers, 'content-length');
    if (length !== undefined) expect(Number(length)).to.equal(get.body.length);
    expect(head.body).to.have.length(0);
  });

  it('rejects HEAD as GET', async () => {
    const statuses: number[] = [];
    for (const [target, as] of [
      ['/modules/wide/http/a', null],
      ['/modules/wide/http/a', 'dev-user:ann'],
      ['/modules/wide/http/a/', undefined],
      ['/modules/wide/http/a', 'dev-service:probe'],
    ] as const) {
      statuses.push((await send('HEAD', target, as)).status);
    }
    expect(statuses).to.deep.equal([401, 403, 404, 403]);
  });

  it('answers 404 to HEAD without a GET route', async () => {
    expect((await send('HEAD', '/modules/narrow/http/only-post')).status).to.equal(404);
    expect(setup.provider.requests).to.have.length(0);
  });

  it('answers 404, not 405, to a method without a route', async () => {
    const response = await send('GET', '/modules/narrow/http/only-post');
    expectProblem(response, 404);
    expect(headerValue(response.headers, 'allow')).to.equal(undefined);
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) {
      expectProblem(await send(method, '/modules/narrow/http/only-get'), 404);
    }
  });
});
