import { expect } from 'chai';
import { headerValue, type RawHeader } from '../../../core/selftest/raw-http.js';
import { type Call, call, JSON_TYPE, parseJson } from '../../support/http/call.js';
import { expectProblem, reasonOf } from '../../support/http/expect-problem.js';
import { describeModule } from '../../support/http/modules.js';
import { useHost } from '../../support/http/use-host.js';

const capability = 'crm.use';
const rule = (method: string, path: string, body: string) => ({
  method,
  path,
  capability,
  operation: { body },
});
const ROUTES = [
  { method: 'GET', path: '/', capability },
  rule('POST', '/', 'optional'),
  ...['POST', 'PUT', 'PATCH', 'DELETE'].flatMap((method) => [
    rule(method, '/optional', 'optional'),
    rule(method, '/none', 'none'),
    rule(method, '/required', 'required'),
  ]),
];

describe('root and optional bodies', () => {
  const setup = useHost((provider) => ({
    'crm.json': describeModule('acme/crm', provider.url, ROUTES),
    'based.json': describeModule('based', `${provider.url}/base/v1`, ROUTES, {
      responses: { mode: 'raw' },
    }),
    'rest.json': describeModule('rest', provider.url, [
      { method: 'GET', path: '/{rest...}', capability },
    ]),
  }));
  const send = (method: string, path: string, overrides: Partial<Call> = {}) =>
    call(setup.host, { method, target: `/modules/acme%2Fcrm/http${path}`, ...overrides });

  for (const [suffix, sent] of [
    ['', '/'],
    ['/', '/'],
    ['?x=1', '/?x=1'],
    ['/?x=%20', '/?x=%20'],
  ] as const) {
    it(`route /modules/{module}/http${suffix} to the template /`, async () => {
      const response = await send('GET', suffix);
      expect(parseJson(response)).to.include({ declared_path: '/', provider_path: '/' });
      expect(setup.provider.only().target).to.equal(sent);
      setup.provider.reset();
      await call(setup.host, { target: `/modules/based/http${suffix}` });
      expect(setup.provider.only().target).to.equal(`/base/v1${sent}`);
    });
  }

  it('match nothing but the root with the template /', async () => {
    for (const path of ['//', '/?', '/x', '/.', '/%2F']) {
      const response = await send('GET', path);
      if (path === '/?') expect(response.status).to.equal(200);
      else expectProblem(response, 404);
    }
    for (const target of ['/modules/rest/http', '/modules/rest/http/']) {
      expectProblem(await call(setup.host, { target }), 404);
    }
  });

  it('check the actor of the root before anything else', async () => {
    for (const target of ['/modules/acme%2Fcrm/http', '/modules/nothing/http']) {
      expectProblem(await call(setup.host, { target, as: null }), 401);
      expectProblem(await call(setup.host, { target, as: 'dev-user:u' }), 403);
    }
    expectProblem(await call(setup.host, { target: '/modules/nothing/http' }), 404);
    expectProblem(await send('OPTIONS', ''), 404);
    expectProblem(await send('DELETE', '/'), 404);
  });

  it('explain the target that goes out, with the base path of the endpoint', async () => {
    for (const path of ['', '/optional?x=1']) {
      const target = encodeURIComponent(`/modules/based/http${path}`);
      const method = path === '' ? 'GET' : 'POST';
      const explained = await call(setup.host, {
        target: `/explain?method=${method}&target=${target}`,
      });
      await call(setup.host, { method, target: `/modules/based/http${path}` });
      const { path: parsed } = JSON.parse(explained.body.toString()) as {
        path: { forward_target: string };
      };
      expect(parsed.forward_target).to.equal(setup.provider.only().target);
      setup.provider.reset();
    }
  });

  it('lead a client that follows a location to the provider', async () => {
    const headers: RawHeader[] = [JSON_TYPE, ['location', `${setup.provider.url}/base/v1/?id=7`]];
    setup.provider.answer({ status: 201, headers });
    const created = await call(setup.host, { method: 'POST', target: '/modules/based/http' });
    const location = headerValue(created.headers, 'location') ?? '';
    expect(location).to.equal('/modules/based/http/?id=7');
    setup.provider.reset();
    expect((await call(setup.host, { target: location })).status).to.equal(200);
    expect(setup.provider.only().target).to.equal('/base/v1/?id=7');
  });

  const body = Buffer.from('{"a":1}');
  const empty: RawHeader = ['content-length', '0'];
  const emptyChunks = { framing: 'chunked', body: Buffer.alloc(0) } as const;
  for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) {
    it(`accept ${method} with and without an optional body`, async () => {
      for (const empties of [{}, { headers: [empty] }, emptyChunks]) {
        for (const type of [undefined, 'application/json', 'application/json; charset=utf-8']) {
          const { headers = [] } = empties as Partial<Call>;
          const typed: RawHeader[] = type === undefined ? [] : [['content-type', type]];
          setup.provider.reset();
          const request = { ...empties, headers: [...headers, ...typed] };
          expect((await send(method, '/optional', request)).status).to.equal(200);
          const received = setup.provider.only();
          expect(received.body).to.have.length(0);
          expect(headerValue(received.headers, 'content-type')).to.equal(type);
        }
      }
      setup.provider.reset();
      expect((await send(method, '/optional', { headers: [JSON_TYPE], body })).status).to.equal(
        200,
      );
      expect(setup.provider.only().body.equals(body)).to.equal(true);
      expect(headerValue(setup.provider.only().headers, 'content-type')).to.equal(JSON_TYPE[1]);
    });

    it(`apply the body policy to an optional body of ${method}`, async () => {
      const text: RawHeader = ['content-type', 'text/plain'];
      for (const [request, field] of [
        [{ headers: [JSON_TYPE], body: Buffer.from('{') }, 'body'],
        [{ body }, 'content-type'],
        [{ headers: [text], body }, 'content-type'],
        [{ framing: 'chunked', body }, 'content-type'],
      ] as const) {
        const problem = expectProblem(await send(method, '/optional', request), 400);
        expect(problem.errors.map((error) => error.field)).to.deep.equal([field]);
      }
      expect(setup.provider.requests).to.have.length(0);
    });

    it(`reject ${method} with a body on a route without one`, async () => {
      const problem = expectProblem(
        await send(method, '/none', { headers: [JSON_TYPE], body }),
        400,
      );
      expect(reasonOf(problem, 'body')).to.match(/accepts no body$/);
      for (const headers of [[], [empty], [JSON_TYPE, empty]]) {
        expect((await send(method, '/none', { headers })).status).to.equal(200);
      }
      expect((await send(method, '/none', emptyChunks)).status).to.equal(200);
    });

    it(`reject ${method} without a required body`, async () => {
      for (const headers of [[], [empty], [JSON_TYPE, empty]]) {
        expectProblem(await send(method, '/required', { headers }), 400);
      }
      expect((await send(method, '/required', { headers: [JSON_TYPE], body })).status).to.equal(
        200,
      );
    });
  }
});
