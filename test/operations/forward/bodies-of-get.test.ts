import { expect } from 'chai';
import { call, JSON_TYPE, parseJson, ROOT } from '../../support/http/call.js';
import { expectProblem } from '../../support/http/expect-problem.js';
import { describeModule } from '../../support/http/modules.js';
import { useHost } from '../../support/http/use-host.js';
import { callTool, listTools } from '../../support/mcp/mcp-call.js';

const QUERY = Buffer.from('{"query": {"term": 1.10}}');
const OF_BODIES = ['content-type', 'content-length', 'transfer-encoding'];
const SCHEMA = { type: 'object', properties: { query: { type: 'object' } } };
const ROUTES = [
  {
    method: 'GET',
    path: '/search',
    capability: 'x.read',
    operation: { operation_id: 'search', body: 'optional', input_schema: SCHEMA },
  },
  { method: 'GET', path: '/plain', capability: 'x.read', operation: { operation_id: 'plain' } },
];

describe('the body of a GET', () => {
  const setup = useHost(
    ({ url }) => {
      const describe = (name: string, overrides: object) =>
        describeModule(name, url, ROUTES, { mcp: { expose: 'all' }, ...overrides });
      return {
        'x.json': describe('x', { schemas: { input: 'enforce' } }),
        'raw.json': describe('raw', { responses: { mode: 'raw' } }),
        'captured.json': describe('captured', { records: { capture_bytes: 1000 } }),
        'streamed.json': describe('streamed', { limits: { hold_request_bytes: 10 } }),
      };
    },
    { args: ['--surfaces', 'mcp'], isDescribed: false },
  );
  const send = (target: string, options: object = {}) =>
    call(setup.host, {
      method: 'GET',
      target: `/modules/${target}`,
      headers: [JSON_TYPE],
      body: QUERY,
      ...options,
    });
  const lastCall = async () => {
    const { calls } = parseJson(await call(setup.host, { target: '/calls?limit=1' }));
    return (calls as Record<string, unknown>[])[0] ?? {};
  };

  for (const module of ['x', 'raw', 'streamed']) {
    it(`reaches the provider byte for byte where the route declares it (${module})`, async () => {
      expect((await send(`${module}/http/search`)).status).to.equal(200);
      const [request] = setup.provider.requests;
      expect(request?.method).to.equal('GET');
      expect(request?.body.toString()).to.equal(QUERY.toString());
      const headers = Object.fromEntries(request?.headers ?? []);
      expect(headers).to.include({
        'content-type': 'application/json',
        'content-length': String(QUERY.length),
      });
      expect(await lastCall()).not.to.have.property('request_body');
    });
  }

  it('may be missing there', async () => {
    const options = { headers: [], body: undefined };
    expect((await send('x/http/search', options)).status).to.equal(200);
    const [request] = setup.provider.requests;
    expect(request?.body).to.have.length(0);
    expect(Object.fromEntries(request?.headers ?? [])).not.to.have.any.keys(...OF_BODIES);
  });

  for (const [title, options] of [
    ['invalid JSON', { body: Buffer.from('{') }],
    ['another type', { headers: [['content-type', 'text/plain']] }],
    ['no type', { headers: [] }],
    ['a violation of the schema', { body: Buffer.from('[]') }],
    ['too many bytes', { body: Buffer.from(`"${'x'.repeat(1_048_576)}"`) }],
  ] as const) {
    it(`is checked there as that of a POST: ${title}`, async () => {
      expectProblem(await send('x/http/search', options), 400);
      expect(setup.provider.requests).to.have.length(0);
    });
  }

  for (const [title, target, options] of [
    ['no declaration', 'x/http/plain', {}],
    ['no declaration, in raw mode', 'raw/http/plain', {}],
    ['no declaration, captured', 'captured/http/plain', {}],
    ['no declaration, in chunks', 'x/http/plain', { framing: 'chunked' }],
    ['no declaration, not JSON', 'x/http/plain', { body: Buffer.from('{') }],
    ['HEAD', 'raw/http/search', { method: 'HEAD' }],
    ['HEAD, served by GET', 'x/http/search', { method: 'HEAD' }],
  ] as const) {
    it(`is ignored, and recorded so: ${title}`, async () => {
      expect((await send(target, options)).status).to.equal(200);
      const [request] = setup.provider.requests;
      expect(request?.body).to.have.length(0);
      expect(Object.fromEntries(request?.headers ?? [])).not.to.have.any.keys(...OF_BODIES);
      expect(await lastCall()).to.include({ request_body: 'ignored' });
    });
  }

  it('is not recorded where there is none', async () => {
    expect((await send('x/http/plain', { headers: [], body: undefined })).status).to.equal(200);
    expect(await lastCall()).not.to.have.property('request_body');
  });

  it('has a line in the explanation of its route', async () => {
    const explain = async (path: string) => {
      const target = `/explain?method=GET&target=${encodeURIComponent(path)}`;
      const { checks, body } = parseJson(await call(setup.host, { target, as: ROOT })) as {
        checks: { check: string; detail: string }[];
        body: object;
      };
      return { body, detail: checks.find(({ check }) => check === 'body')?.detail };
    };
    expect(await explain('/modules/x/http/plain')).to.deep.equal({
      body: { policy: 'ignored', max_bytes: null },
      detail: 'a body is ignored, and recorded as request_body: ignored',
    });
    const { body, detail } = await explain('/modules/x/http/search');
    expect(body).to.deep.equal({ policy: 'optional', max_bytes: 1_048_576 });
    expect(detail).to.include('an invalid body is 400');
  });

  it('is the argument `body` of its tool', async () => {
    const tools = await listTools(setup.host, { module: 'x' });
    const propertiesOf = (name: string) =>
      Object.keys(tools.find((tool) => tool.name === name)?.inputSchema['properties'] ?? {});
    expect(propertiesOf('x_search')).to.deep.equal(['body']);
    expect(propertiesOf('x_plain')).to.deep.equal([]);
    await callTool(setup.host, 'x_search', '{"body":{"query":{"term":1.10}}}', { module: 'x' });
    expect(setup.provider.requests[0]?.body.toString()).to.equal('{"query":{"term":1.10}}');
  });

  it('is in the API description', async () => {
    const { paths } = parseJson(await call(setup.host, { target: '/openapi.json' })) as {
      paths: Record<string, { get: { requestBody?: { required?: boolean } } }>;
    };
    expect(paths['/modules/x/http/search']?.get.requestBody).to.have.property('content');
    expect(paths['/modules/x/http/search']?.get.requestBody).not.to.have.property('required');
    expect(paths['/modules/x/http/plain']?.get).not.to.have.property('requestBody');
  });
});
